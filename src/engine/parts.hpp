/// What the messages and copies of a schedule move, as the executor needs it: as elements for MPI, as bytes in memory
/// for a transport of our own.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "buffers/blocks.hpp"
#include "buffers/forward.hpp"
#include "mpi/outcome.hpp"
#include "mpi/simulation.hpp"
#include "schedule/schedule.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

inline constexpr int parts_tag = 1;

/// Blocks of one size, side by side.
struct Rows {
  char *send, *receive;  ///< where they begin
  std::int64_t block_bytes;
  struct Unit {
    std::int64_t count;
    MPI_Datatype type;
  } sent, received;  ///< what a block is in messages
};

/// Where blocks lie anywhere: each message is one block in the application's own type, or some bytes of one.
class BlockParts {
 public:
  /// `as_bytes`: the bytes of the first segment, if the schedule has segments; else all. Types are contiguous then.
  BlockParts(const Schedule& schedule, const Blocks& send, const Blocks& receive, bool as_bytes)
      : schedule_(schedule), send_(send), receive_(receive), as_bytes_(as_bytes) {}

  /// Goes on to the next segment. False: no block of this rank has so many bytes, and its part is over.
  bool next_segment() {
    if (schedule_.segment_bytes == 0) return false;
    offset_ += schedule_.segment_bytes;
    for (Rank i = 0; i < schedule_.ranks; ++i)
      if (send_.bytes(i) > offset_ || receive_.bytes(i) > offset_) return true;
    return false;
  }

  template <bool is_send>
  Part of(const Message& message) const {
    return of(schedule_.runs[message.first]);
  }

  /// Appends where the bytes of `message` lie. Returns how many they are.
  std::size_t pieces(const Message& message, std::vector<Piece>& all) const {
    const Part part = of(schedule_.runs[message.first]);
    all.push_back({static_cast<char*>(part.address), static_cast<std::size_t>(part.count)});
    return all.back().bytes;
  }

  int copy(const Copy& copy, MPI_Comm comm, Outcome& outcome) const {
    const Part from = of(copy.from), to = of(copy.to);
    if (from.count == 0) return MPI_SUCCESS;
    const Datatype &sent = send_.type(copy.from.first), &received = receive_.type(copy.to.first);
    const std::int64_t bytes = from.count * (as_bytes_ ? 1 : sent.size);
    const bool fits = bytes == to.count * (as_bytes_ ? 1 : received.size);  // if not, MPI is to say so
    if (!fits || !sent.contiguous || !received.contiguous)
      return outcome.noted(sendrecv(from, schedule_.rank, to, schedule_.rank, parts_tag, comm));
    std::memcpy(to.address, from.address, static_cast<std::size_t>(bytes));
    copied(bytes);
    return MPI_SUCCESS;
  }

 private:
  [[gnu::always_inline]] Part of(const Run& run) const {
    const Blocks& blocks = run.buffer == Buffer::send ? send_ : receive_;
    if (!as_bytes_) return blocks.whole(run.first);
    return blocks.segment(run.first, offset_, schedule_.segment_bytes > 0 ? schedule_.segment_bytes : INT64_MAX);
  }

  const Schedule& schedule_;
  const Blocks &send_, &receive_;
  bool as_bytes_;
  std::int64_t offset_ = 0;
};

/// The same where all blocks are of one size, not empty, and lie side by side.
class RowParts {
 public:
  RowParts(const Schedule& schedule, const Rows& rows, char* scratch, MessageTypes& types)
      : schedule_(schedule), rows_(rows), base_{rows.send, rows.receive, scratch}, types_(types) {}

  bool next_segment() const { return false; }

  template <bool is_send>
  Part of(const Message& message) const {
    const Run& run = schedule_.runs[message.first];
    if (message.count == 1 && (run.stride == 1 || run.count == 1)) return row<is_send>(run);
    return scattered(message);
  }

  std::size_t pieces(const Message& message, std::vector<Piece>& all) const {
    std::size_t bytes = 0;
    for (const Run& run : schedule_.runs_of(message)) {
      const bool row = run.stride == 1;
      const std::size_t length =
          static_cast<std::size_t>(rows_.block_bytes) * (row ? static_cast<std::size_t>(run.count) : 1);
      for (std::int32_t i = 0; i < (row ? 1 : run.count); ++i, bytes += length)
        all.push_back({address(run) + i * run.stride * rows_.block_bytes, length});
    }
    return bytes;
  }

  /// Blocks side by side.
  template <bool is_send>
  Part row(const Run& run) const {
    const Rows::Unit& unit = is_send ? rows_.sent : rows_.received;
    return {address(run), run.count * unit.count, unit.type};
  }

  void copy(const Run& from, const Run& to) const {
    const std::int64_t bytes = rows_.block_bytes;
    copy_row(address(to), to.stride * bytes, address(from), from.stride * bytes, from.count, bytes);
  }

  int copy(const Copy& both, MPI_Comm, Outcome&) const { return copy(both.from, both.to), MPI_SUCCESS; }

 private:
  char* address(const Run& run) const {
    return base_[static_cast<std::size_t>(run.buffer)] + run.first * rows_.block_bytes;
  }

  /// A message of blocks that do not lie side by side.
  [[gnu::noinline]] Part scattered(const Message& message) const {
    types_.bind(base_[0], base_[1], base_[2], rows_.block_bytes);
    Part all{MPI_BOTTOM, 1, MPI_DATATYPE_NULL};
    const int error = types_.type_of(schedule_, message, &all.type);
    if (error != MPI_SUCCESS) all.type = MPI_DATATYPE_NULL;  // the message is then refused with MPI's own error
    return all;
  }

  const Schedule& schedule_;
  const Rows& rows_;
  char* base_[3];  // of send, receive, scratch
  MessageTypes& types_;
};

}  // namespace swapmeet
