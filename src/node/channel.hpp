/// A channel is a one-way connection in shared memory from one rank of a node to another: a circular buffer of cells.
/// The sender fills a cell and writes its number. The receiver waits for the number, empties the cell and acknowledges
/// it. Messages keep their order.
///
///   cell             number | acknowledged | bytes and call of the message | 48 bytes of payload
///   acknowledgement  number of cells emptied | number of single copies declined
///   bulk             room for a larger payload, for each cell
///
/// Each cell and each acknowledgement takes one cache line. Those of all channels lie together, in few pages. This
/// matters if ranks share cores: a rank that gets the core again finds its entries in the TLB replaced.
///
/// A message is sent either as data, which are cut into cells, or by a single copy: the sender announces the address of
/// the message in a cell (`announcement`), and the receiver reads it there. If the receiver cannot read it, it declines
/// (`refused`), and the sender sends the message as data.
///
/// The number is the last word of a cell that the sender writes (release) and the first that the receiver reads
/// (acquire), so a small message takes one cache line. `acknowledged` is a piggybacked acknowledgement: the number of
/// cells that the sender of this cell has emptied in the opposite direction. If messages go both ways, no rank reads
/// the separate acknowledgement.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace swapmeet {

/// The sizes of a channel.
struct ChannelSize {
  std::uint32_t cells = 2;  ///< a power of two
  /// size of the bulk for each cell: an odd number of whole cache lines, so that cells lie in different cache sets
  std::uint32_t bulk_bytes = 1024;
};

struct alignas(64) Acknowledgement {
  std::atomic<std::uint32_t> emptied;
  std::atomic<std::uint32_t> refused;
};

struct alignas(64) Cell {
  static constexpr std::uint64_t announcement = std::uint64_t{1} << 63, bulk = std::uint64_t{1} << 62;
  static constexpr std::uint64_t failed = std::uint64_t{1} << 61;  ///< the sender has no data and sends none
  static constexpr int call_shift = 45;  ///< position of the 16 bits with the number of the call
  static constexpr std::uint64_t bytes_mask = (std::uint64_t{1} << call_shift) - 1;

  std::atomic<std::uint32_t> number;  ///< number of the content, from 1 on
  std::uint32_t acknowledged;
  /// total bytes of the message, and its call; `announcement`: the payload is the address of the message; `bulk`: the
  /// payload is in the bulk
  std::uint64_t message;
  char payload[48];

  /// The word `message` of a cell with data.
  static std::uint64_t label(std::size_t bytes, std::uint16_t call) {
    return bytes | std::uint64_t{call} << call_shift;
  }

  bool announces() const { return message & announcement; }
  std::size_t message_bytes() const { return message & bytes_mask; }
  std::uint16_t call() const { return static_cast<std::uint16_t>(message >> call_shift); }
};
static_assert(sizeof(Cell) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// The cells of one channel, used as a circular buffer.
class Ring {
 public:
  Ring() = default;
  Ring(Cell* cells, char* bulk, const ChannelSize& size)
      : cells_(cells), bulk_(bulk), mask_(size.cells - 1), bulk_bytes_(size.bulk_bytes) {}

  Cell& operator[](std::uint32_t number) const { return cells_[number & mask_]; }
  std::uint32_t cells() const { return mask_ + 1; }

  /// The address of the payload of a cell.
  char* payload(Cell& cell, bool in_bulk) const {
    return in_bulk ? bulk_ + static_cast<std::size_t>(&cell - cells_) * bulk_bytes_ : cell.payload;
  }

  std::size_t most_payload() const { return bulk_bytes_; }

 private:
  Cell* cells_ = nullptr;
  char* bulk_ = nullptr;
  std::uint32_t mask_ = 0;
  std::size_t bulk_bytes_ = 0;
};

/// The sending end of a channel.
class Outlet {
 public:
  Outlet() = default;
  Outlet(Ring ring, Acknowledgement* acknowledgement) : ring_(ring), acknowledgement_(acknowledgement) {}

  /// The next cell if it is empty; otherwise nullptr.
  Cell* next() {
    if (filled_ - emptied_ == ring_.cells() && !look()) return nullptr;
    return &ring_[filled_];
  }

  /// Passes the cell of next() to the receiver. `emptied`: number of cells that this rank has emptied in the opposite
  /// direction.
  void hand_over(Cell& cell, std::uint64_t message, std::uint32_t emptied) {
    cell.acknowledged = emptied;
    cell.message = message;
    cell.number.store(++filled_, std::memory_order_release);
  }

  /// Records an acknowledgement that was piggybacked on a cell of the opposite direction.
  void learn(std::uint32_t emptied) {
    if (static_cast<std::int32_t>(emptied - emptied_) > 0) emptied_ = emptied;  // it may be older than what is known
  }

  /// all_emptied() says whether all cells are empty. Afterwards, if the last cell announced a single copy, refused()
  /// says whether the receiver has declined it; it must be called once for each. (Only one single copy is announced at
  /// a time, so a changed count is enough, even if the count has wrapped around.)
  bool all_emptied() { return filled_ == emptied_ || (look(), filled_ == emptied_); }
  bool refused() {
    const std::uint32_t refusals = acknowledgement_->refused.load(std::memory_order_relaxed);
    return std::exchange(refusals_, refusals) != refusals;
  }

  const Ring& ring() const { return ring_; }

 private:
  bool look() {
    const std::uint32_t before = emptied_;
    emptied_ = acknowledgement_->emptied.load(std::memory_order_acquire);
    return emptied_ != before;
  }

  Ring ring_;
  Acknowledgement* acknowledgement_ = nullptr;
  std::uint32_t filled_ = 0, emptied_ = 0, refusals_ = 0;
};

/// The receiving end of a channel.
class Inlet {
 public:
  Inlet() = default;
  Inlet(Ring ring, Acknowledgement* acknowledgement) : ring_(ring), acknowledgement_(acknowledgement) {}

  /// The next cell if the sender has filled it; otherwise nullptr.
  Cell* next() const {
    Cell& cell = ring_[emptied_];
    return cell.number.load(std::memory_order_acquire) == emptied_ + 1 ? &cell : nullptr;
  }

  void emptied() { acknowledgement_->emptied.store(++emptied_, std::memory_order_release); }
  void refused() {
    acknowledgement_->refused.store(++refusals_, std::memory_order_relaxed);
    emptied();
  }

  std::uint32_t count() const { return emptied_; }
  const Ring& ring() const { return ring_; }

 private:
  Ring ring_;
  Acknowledgement* acknowledgement_ = nullptr;
  std::uint32_t emptied_ = 0, refusals_ = 0;
};

}  // namespace swapmeet
