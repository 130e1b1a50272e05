/// Payloads for exchanges in which both ends of each message know the block sizes. A schedule prescribes the messages.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "buffers/blocks.hpp"
#include "buffers/block_copies.hpp"
#include "buffers/memory.hpp"
#include "buffers/staging.hpp"
#include "exchange/fabric.hpp"
#include "mpi/simulation.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Send and receive buffers with blocks of one size that lie side by side.
struct Rows {
  char *send, *receive;  ///< first block of each buffer
  std::int64_t block_bytes;
  struct Unit {
    std::int64_t count;
    MPI_Datatype type;
  } sent, received;  ///< one block, as MPI's count and datatype
};

/// The common part of the payloads in this file. `Payload` is the derived class (CRTP), which knows the memory of each
/// message.
template <class Payload, class Watching>
class EqualPayload {
 public:
  static constexpr bool hears = false, has_parts = false;

  EqualPayload(const Schedule& schedule, Failure& failure, const Fabric<Watching>& fabric)
      : schedule_(schedule), failure_(failure), fabric_(fabric) {}

  std::size_t rounds() const { return schedule_.steps.size(); }
  const Round& round(std::size_t index) const { return schedule_.steps[index]; }
  int begin(Fabric<Watching>&) const { return MPI_SUCCESS; }
  int over() const { return failure_.error; }

  template <bool is_send>
  [[gnu::always_inline]] int start(std::uint32_t number, std::uint32_t slot, Fabric<Watching>& fabric,
                                   Started& started) {
    const Message& message = is_send ? schedule_.sends[number] : schedule_.receives[number];
    return fabric.template start<is_send>(slot, message.peer, MessageKind::last,
                                          MessageMemory<is_send>{static_cast<const Payload&>(*this), message}, started);
  }

  template <bool is_send>
  void finished(std::uint32_t, std::uint32_t) const {}

  void copy(std::size_t index) {
    const Step& step = schedule_.steps[index];
    if (step.copy_count == 0 || fabric_.call().failure != MPI_SUCCESS) return;
    const auto phase = fabric_.watch().during(phase_of(step.purpose));
    for (const Copy& both : schedule_.copies_of(step)) static_cast<Payload*>(this)->copy_blocks(both);
  }

 protected:
  /// The memory of a message, for the fabric (message_memory.hpp).
  template <bool is_send>
  struct MessageMemory {
    const Payload& payload;
    const Message& message;

    bool lost() const {
      if (!payload.failure_.marks) [[likely]]
        return false;
      return is_send || payload.fabric_.call().failure != MPI_SUCCESS;
    }
    std::int64_t bytes() const { return payload.bytes(message); }
    static Piece room() { return {}; }
    Part part() const { return payload.template part<is_send>(message); }
    Place pieces(Piece* list) const { return payload.pieces(message, list); }
  };

  const Schedule& schedule_;
  Failure& failure_;
  const Fabric<Watching>& fabric_;
};

/// Payload for blocks at arbitrary addresses. Each message is one block in the application's datatype, or some of its
/// bytes.
template <class Watching>
class BlocksPayload : public EqualPayload<BlocksPayload<Watching>, Watching> {
  using Base = EqualPayload<BlocksPayload<Watching>, Watching>;
  friend Base;

 public:
  /// `as_bytes`: messages are bytes, those of the current segment if the schedule has segments; this requires
  /// contiguous types. Otherwise each message is a whole block in the application's type.
  BlocksPayload(const Schedule& schedule, bool as_bytes, Failure& failure, const Fabric<Watching>& fabric)
      : Base(schedule, failure, fabric), as_bytes_(as_bytes) {}

  static constexpr bool of_rows = false;

  /// Sets the blocks of the next exchange. Both arguments must stay in place until it is complete. Returns true.
  bool bind(const Blocks& send, const Blocks& receive) {
    send_ = &send;
    receive_ = &receive;
    offset_ = 0;
    streams_.reset();
    return true;
  }

  /// Whether these blocks have at most `most_bytes` bytes each.
  bool fit(std::size_t most_bytes, std::span<const std::int32_t> sent, std::span<const std::int32_t> received) const {
    const auto fits = [&](const Blocks& blocks) {
      return [&](std::int32_t block) { return static_cast<std::size_t>(blocks.bytes(block)) <= most_bytes; };
    };
    return std::ranges::all_of(sent, fits(*send_)) && std::ranges::all_of(received, fits(*receive_));
  }

  /// A function that returns the memory of a whole block, by its number.
  template <bool is_send>
  auto place() const {
    return [&blocks = is_send ? *send_ : *receive_](std::int32_t block) {
      return Piece{blocks.address(block), static_cast<std::size_t>(blocks.bytes(block)), blocks.type(block).map};
    };
  }

  std::size_t equal_bytes() const { return 0; }  ///< size of every block, if all ranks know it; 0: not known
  bool in_place() const { return *send_ == *receive_; }

  /// Goes on to the next segment. Returns false if no block of this rank is that long: then its part is complete.
  bool next_pass() {
    if (this->schedule_.segment_bytes == 0) return false;
    offset_ += this->schedule_.segment_bytes;
    const auto reach_beyond = [this](const Blocks& blocks, Buffer side) {
      for (std::int32_t i = 0; i < this->schedule_.blocks_in(side); ++i)
        if (blocks.bytes(i) > offset_) return true;
      return false;
    };
    return reach_beyond(*send_, Buffer::send) || reach_beyond(*receive_, Buffer::receive);
  }

 private:
  const Blocks& blocks_of(const Run& run) const { return run.buffer == Buffer::send ? *send_ : *receive_; }

  [[gnu::always_inline]] Part block(const Run& run) const {
    const Blocks& blocks = blocks_of(run);
    if (!as_bytes_) return blocks.whole(run.first);
    const std::int64_t segment = this->schedule_.segment_bytes;
    return blocks.segment(run.first, offset_, segment > 0 ? segment : INT64_MAX);
  }

  template <bool is_send>
  Part part(const Message& message) const {
    return block(this->schedule_.runs[message.first]);
  }

  std::int64_t bytes(const Message& message) const {
    const Run& run = this->schedule_.runs[message.first];
    return block(run).count * (as_bytes_ ? 1 : blocks_of(run).type(run.first).size);
  }

  Place pieces(const Message& message, Piece* all) const {
    const Run& run = this->schedule_.runs[message.first];
    const Part part = block(run);
    const Datatype& type = as_bytes_ ? byte_type() : blocks_of(run).type(run.first);
    const std::int64_t bytes = part.count * type.size;
    *all = {static_cast<char*>(part.address), static_cast<std::size_t>(bytes), type.map,
            run.buffer == Buffer::receive && streams(bytes)};
    return {{all, 1}, all->bytes};
  }

  /// Whether a block of this size is written past the caches when it is received: all blocks that the node exchanges
  /// together would exceed the caches.
  bool streams(std::int64_t bytes) const {
    constexpr std::int64_t least_bytes = 64 << 10;
    if (bytes < least_bytes || !this->fabric_.shares_node()) return false;
    if (!streams_) {
      std::int64_t all = 0;
      for (std::int32_t i = 0; i < this->schedule_.blocks_in(Buffer::send); ++i) all += send_->bytes(i);
      for (std::int32_t i = 0; i < this->schedule_.blocks_in(Buffer::receive); ++i) all += receive_->bytes(i);
      streams_ = exceeds_caches(all * this->schedule_.ranks);
    }
    return *streams_;
  }

  void copy_blocks(const Copy& both) {
    const Part from = block(both.from), to = block(both.to);
    if (from.count == 0) return;
    const Datatype &sent = send_->type(both.from.first), &received = receive_->type(both.to.first);
    if (from.address == to.address && sent.handle == received.handle) return;
    const std::int64_t bytes = from.count * (as_bytes_ ? 1 : sent.size);
    const bool fits = bytes == to.count * (as_bytes_ ? 1 : received.size);  // if not, MPI reports the error
    if (!fits || !sent.contiguous || !received.contiguous) {
      const MPI_Comm alone = this->fabric_.call().team->alone();
      const bool by_mpi = this->fabric_.call().waits && !(fits && sent.mapped() && received.mapped());
      const int error = by_mpi ? sendrecv(from, 0, 0, to, 0, 0, alone, MPI_STATUS_IGNORE)
                        : fits ? Staging::copy(from, sent, to, received, alone, streams(bytes))
                               : MPI_ERR_TRUNCATE;
      if (error) this->failure_.received_wrong(error, false);
      return;
    }
    std::memcpy(to.address, from.address, static_cast<std::size_t>(bytes));
    copied(bytes);
  }

  const Blocks *send_ = nullptr, *receive_ = nullptr;
  mutable std::optional<bool> streams_;
  bool as_bytes_;
  std::int64_t offset_ = 0;
};

/// Payload for non-empty blocks of one size that lie side by side.
template <class Watching>
class RowsPayload : public EqualPayload<RowsPayload<Watching>, Watching> {
  using Base = EqualPayload<RowsPayload<Watching>, Watching>;
  friend Base;

 public:
  static constexpr bool of_rows = true;

  RowsPayload(const Schedule& schedule, MessageTypes& types, Memory& scratch, Failure& failure,
              const Fabric<Watching>& fabric)
      : Base(schedule, failure, fabric), types_(types), scratch_(scratch) {}

  /// Sets the buffers of the next exchange. `rows` must stay in place until it is complete. Returns whether there is
  /// scratch memory for it.
  bool bind(const Rows& rows) {
    const bool room = scratch_.reserve(this->schedule_.scratch_blocks * rows.block_bytes);
    rows_ = &rows;
    base_[0] = rows.send;
    base_[1] = rows.receive;
    base_[2] = scratch_.memory();
    return room;
  }

  /// As in BlocksPayload.
  bool fit(std::size_t most_bytes, std::span<const std::int32_t>, std::span<const std::int32_t>) const {
    return equal_bytes() <= most_bytes;
  }
  template <bool is_send>
  auto place() const {
    return [first = is_send ? rows_->send : rows_->receive, bytes = rows_->block_bytes](std::int32_t block) {
      return Piece{first + block * bytes, static_cast<std::size_t>(bytes)};
    };
  }

  std::size_t equal_bytes() const { return static_cast<std::size_t>(rows_->block_bytes); }
  bool in_place() const { return rows_->send == rows_->receive; }
  bool next_pass() const { return false; }

  /// The blocks of a run with stride 1, as one part of a buffer.
  template <bool is_send>
  Part row(const Run& run) const {
    const Rows::Unit& unit = is_send ? rows_->sent : rows_->received;
    return {address(run), run.count * unit.count, unit.type};
  }

  [[gnu::always_inline]] void copy_row(const Run& from, const Run& to) const {
    const std::int64_t bytes = rows_->block_bytes;
    if (address(from) == address(to)) return;  // in place
    swapmeet::copy_row(address(to), to.stride * bytes, address(from), from.stride * bytes, from.count, bytes);
  }

 private:
  template <bool is_send>
  Part part(const Message& message) const {
    const Run& run = this->schedule_.runs[message.first];
    if (message.count == 1 && (run.stride == 1 || run.count == 1)) return row<is_send>(run);
    return scattered<is_send>(message);
  }

  std::int64_t bytes(const Message& message) const { return this->schedule_.block_count(message) * rows_->block_bytes; }

  Place pieces(const Message& message, Piece* all) const {
    std::size_t count = 0, bytes = 0;
    for (const Run& run : this->schedule_.runs_of(message)) {
      const bool row = run.stride == 1;
      const std::size_t length =
          static_cast<std::size_t>(rows_->block_bytes) * (row ? static_cast<std::size_t>(run.count) : 1);
      for (std::int32_t i = 0; i < (row ? 1 : run.count); ++i, bytes += length)
        all[count++] = {address(run) + i * run.stride * rows_->block_bytes, length};
    }
    return {{all, count}, bytes};
  }

  void copy_blocks(const Copy& both) const { copy_row(both.from, both.to); }

  char* address(const Run& run) const {
    return base_[static_cast<std::size_t>(run.buffer)] + run.first * rows_->block_bytes;
  }

  /// The part for a message whose blocks do not lie side by side: one element of a derived datatype.
  template <bool is_send>
  [[gnu::noinline]] Part scattered(const Message& message) const {
    types_.bind(base_[0], base_[1], base_[2], rows_->block_bytes);
    if constexpr (simulated) {
      std::int64_t pieces = 0;
      for (const Run& run : this->schedule_.runs_of(message)) pieces += run.stride == 1 ? 1 : run.count;
      typed(bytes(message), pieces);
    }
    Part all{MPI_BOTTOM, 1, MPI_DATATYPE_NULL};
    const int error = types_.type_of(this->schedule_, message, &all.type);
    if (!error) return all;
    this->failure_.fail(error);
    LostData& lost = this->fabric_.lost_data();
    return is_send ? lost.sent(bytes(message)) : lost.dropped(bytes(message));
  }

  const Rows* rows_ = nullptr;
  char* base_[3] = {};  // of send, receive and scratch buffer
  MessageTypes& types_;
  Memory& scratch_;
};

}  // namespace swapmeet
