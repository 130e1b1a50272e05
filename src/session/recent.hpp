/// What a thread knows of the communicators that it used last.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "mpi/mpi.hpp"

namespace swapmeet {

class Communicator;

/// The generation of handles: number of times so far that they may have come to mean something else. All that a thread
/// keeps by a handle is valid in one generation only.
inline std::atomic<std::uint64_t> generation{0};

/// Begins another generation: a communicator was freed, what serves it has changed, or MPI_Finalize was called.
inline void forget_handles() { generation.fetch_add(1, std::memory_order_release); }

/// The counter of first calls on a communicator that are left to the host MPI (lookup.cpp).
struct LeftCalls {
  int made = 0, most = 0;  ///< calls that were left, and the number of calls to leave

  /// Returns whether this call is left, and counts it.
  bool leaves() { return made < most && (++made, true); }
};

/// A cache of the communicators that a thread used last.
class Recent {
 public:
  /// Returns nullptr if `comm` is not in the cache.
  [[gnu::always_inline]] Communicator* find(MPI_Comm comm) const {
    const Entry& entry = entries_[place(comm)];
    return entry.is_of(comm) ? entry.communicator : nullptr;
  }
  /// The counter of a communicator for which nothing else has been made; nullptr if it is not in the cache.
  LeftCalls* left_calls(MPI_Comm comm) const {
    const Entry& entry = entries_[place(comm)];
    return entry.is_of(comm) ? entry.left_calls : nullptr;
  }
  /// One of `communicator` and `left_calls` is nullptr. `as_of`: the generation in which they were looked up.
  void note(MPI_Comm comm, Communicator* communicator, LeftCalls* left_calls, std::uint64_t as_of) {
    entries_[place(comm)] = {comm, communicator, left_calls, as_of};
  }

 private:
  struct Entry {
    MPI_Comm comm;
    Communicator* communicator;
    LeftCalls* left_calls;
    std::uint64_t as_of;  ///< generation in which the entry was made

    bool is_of(MPI_Comm other) const { return comm == other && as_of == generation.load(std::memory_order_acquire); }
  };
  static constexpr int bits = 2;
  static std::size_t place(MPI_Comm comm) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    std::uint64_t handle = 0;
    std::memcpy(&handle, &comm, sizeof comm);
    return handle * golden >> (64 - bits);
  }
  Entry entries_[std::size_t{1} << bits];
};

}  // namespace swapmeet
