/// Moving bytes for store-and-forward plans: rows of equal blocks, and messages of blocks that do not lie side by side.
#pragma once

#include <cstring>
#include <vector>

#include "buffers/blocks.hpp"
#include "mpi/simulation.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Blocks of a size that the compiler knows: no call for each of them.
template <std::size_t bytes>
void copy_small(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int32_t count) {
  for (; count > 0; --count, to += to_step, from += from_step) std::memcpy(to, from, bytes);
}

/// Copies `count` blocks of `bytes` bytes; blocks follow one another `from_step` and `to_step` bytes apart.
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

/// Derived types of the messages of a schedule, with absolute addresses. Kept from call to call while the buffers stay
/// where they are.
class MessageTypes {
 public:
  MessageTypes() = default;
  MessageTypes(const MessageTypes&) = delete;
  MessageTypes& operator=(const MessageTypes&) = delete;
  ~MessageTypes();

  /// Room for the types of all messages of `schedule`: type_of() allocates nothing then.
  void make_room(const Schedule& schedule);

  /// For buffers that begin here, with blocks of so many bytes; forgets the types of others.
  void bind(const char* send, const char* receive, const char* scratch, std::int64_t block_bytes);

  /// The type of `message` as one element at MPI_BOTTOM; made if it is new.
  int type_of(const Schedule& schedule, const Message& message, MPI_Datatype* type);

 private:
  void forget();
  const char* base_[3] = {};
  std::int64_t block_bytes_ = 0;
  std::vector<MPI_Datatype> types_;  ///< by the message's first run
  std::vector<int> lengths_;
  std::vector<MPI_Aint> addresses_;
};

}  // namespace swapmeet
