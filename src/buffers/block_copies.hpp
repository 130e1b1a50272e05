/// Copies of rows of equal blocks, and datatypes of messages with non-contiguous blocks, for store-and-forward plans.
#pragma once

#include <cstring>
#include <vector>

#include "buffers/blocks.hpp"
#include "mpi/simulation.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Copies `count` blocks of `bytes` bytes. The compiler knows the size, so no function is called for each block.
template <std::size_t bytes>
void copy_small(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int32_t count) {
  for (; count > 0; --count, to += to_step, from += from_step) std::memcpy(to, from, bytes);
}

/// Copies `count` blocks of `bytes` bytes each. Consecutive blocks begin `from_step` bytes apart in the source and
/// `to_step` bytes apart in the destination.
[[gnu::always_inline]] inline void copy_row(char* to, std::int64_t to_step, const char* from, std::int64_t from_step,
                                            std::int32_t count, std::int64_t bytes) {
  const bool together = count == 1 || (to_step == bytes && from_step == bytes);
  copied(count * bytes, together ? 1 : count);
  if (together) {
    std::memcpy(to, from, static_cast<std::size_t>(count * bytes));
    return;
  }
  switch (bytes) {
    case 4: return copy_small<4>(to, to_step, from, from_step, count);
    case 8: return copy_small<8>(to, to_step, from, from_step, count);
    case 16: return copy_small<16>(to, to_step, from, from_step, count);
    case 32: return copy_small<32>(to, to_step, from, from_step, count);
    case 64: return copy_small<64>(to, to_step, from, from_step, count);
    default: break;
  }
  for (; count > 0; --count, to += to_step, from += from_step) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// The derived types of the messages of a schedule, with absolute addresses. They are kept from call to call as long as
/// the buffers do not change.
class MessageTypes {
 public:
  MessageTypes() = default;
  MessageTypes(const MessageTypes&) = delete;
  MessageTypes& operator=(const MessageTypes&) = delete;
  ~MessageTypes();

  /// Reserves room for the types of all messages of `schedule`, so that type_of() allocates no memory of its own.
  void make_room(const Schedule& schedule);

  /// Sets the buffers and the size of a block. If they have changed, the types for the previous ones are freed.
  void bind(const char* send, const char* receive, const char* scratch, std::int64_t block_bytes);

  /// Sets `type` to the type of `message`, of which one element at MPI_BOTTOM is the message. It is made on first use
  /// and owned by this object. Returns an MPI error code.
  int type_of(const Schedule& schedule, const Message& message, MPI_Datatype* type);

 private:
  void forget();
  const char* base_[3] = {};
  std::int64_t block_bytes_ = 0;
  std::vector<MPI_Datatype> types_;  ///< indexed by Message::first, the message's first run
  std::vector<int> lengths_;
  std::vector<MPI_Aint> addresses_;
};

}  // namespace swapmeet
