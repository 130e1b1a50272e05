/// A one-way channel in shared memory, from one rank of a node to another: a ring of cells. The sender fills a cell and
/// numbers it, the receiver waits for the number, empties the cell and acknowledges it. Messages keep their order.
///
///   cell             number | acknowledged | bytes and call of the message, or of what is offered | 48 bytes of payload
///   acknowledgement  cells emptied | offers refused
///   bulk             room for a larger payload, for each cell
///
/// Cells and acknowledgements are a cache line each. Those of all channels lie together, in few pages, for where ranks
/// share cores each finds its address translations gone when it is its turn.
///
/// A message travels as data, cut into cells; or as an offer: its sender says where it lies, and the receiver reads it
/// there (a single copy). An offer that cannot be taken up is refused, and the message follows as data.
///
/// A number is the last word written of a cell (release) and the first read of it (acquire): so small messages take one
/// cache line. `acknowledged` is what the sender of the cell has emptied the other way: where messages go both ways,
/// nobody reads the acknowledgement.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace swapmeet {

/// Sizes of a channel.
struct ChannelSize {
  std::uint32_t cells = 2;  ///< a power of two
  /// for each cell: whole cache lines, an odd number of them, so that cells differ in their sets
  std::uint32_t bulk_bytes = 1024;
};

struct alignas(64) Acknowledgement {
  std::atomic<std::uint32_t> emptied;
  std::atomic<std::uint32_t> refused;
};

struct alignas(64) Cell {
  static constexpr std::uint64_t offer = std::uint64_t{1} << 63, bulk = std::uint64_t{1} << 62;
  static constexpr std::uint64_t failed = std::uint64_t{1} << 61;  ///< the sender has no data: it sends none
  static constexpr int call_shift = 45;                            ///< then 16 bits of the number of the call
  static constexpr std::uint64_t bytes_mask = (std::uint64_t{1} << call_shift) - 1;

  std::atomic<std::uint32_t> number;  ///< of what is in it, from 1 on
  std::uint32_t acknowledged;
  /// its bytes in all, and its call; `offer`: the payload says where they are; `bulk`: the payload is there
  std::uint64_t message;
  char payload[48];

  /// Of a message of data.
  static std::uint64_t label(std::size_t bytes, std::uint16_t call) {
    return bytes | std::uint64_t{call} << call_shift;
  }

  bool offers() const { return message & offer; }
  std::size_t message_bytes() const { return message & bytes_mask; }
  std::uint16_t call() const { return static_cast<std::uint16_t>(message >> call_shift); }
};
static_assert(sizeof(Cell) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// The cells of one channel.
class Ring {
 public:
  Ring() = default;
  Ring(Cell* cells, char* bulk, const ChannelSize& size)
      : cells_(cells), bulk_(bulk), mask_(size.cells - 1), bulk_bytes_(size.bulk_bytes) {}

  Cell& operator[](std::uint32_t number) const { return cells_[number & mask_]; }
  std::uint32_t cells() const { return mask_ + 1; }

  /// Where the payload of a cell is.
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

/// The sender's end.
class Outlet {
 public:
  Outlet() = default;
  Outlet(Ring ring, Acknowledgement* acknowledgement) : ring_(ring), acknowledgement_(acknowledgement) {}

  /// The next cell, if there is an empty one.
  Cell* next() {
    if (filled_ - emptied_ == ring_.cells() && !look()) return nullptr;
    return &ring_[filled_];
  }

  /// Hands the next() cell over. `emptied`: cells that the inlet from there has emptied.
  void hand_over(Cell& cell, std::uint64_t message, std::uint32_t emptied) {
    cell.acknowledged = emptied;
    cell.message = message;
    cell.number.store(++filled_, std::memory_order_release);
  }

  /// What a cell from there said of cells that were emptied.
  void learn(std::uint32_t emptied) {
    if (static_cast<std::int32_t>(emptied - emptied_) > 0) emptied_ = emptied;  // it may be old news
  }

  /// Whether all cells are empty. Then, if the last one was an offer, whether that was refused: to be asked once.
  /// (There is one offer at a time, and a count tells it from others however often numbers have wrapped around.)
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

/// The receiver's end.
class Inlet {
 public:
  Inlet() = default;
  Inlet(Ring ring, Acknowledgement* acknowledgement) : ring_(ring), acknowledgement_(acknowledgement) {}

  /// The next cell, if it has been handed over.
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
