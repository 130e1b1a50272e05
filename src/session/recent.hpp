/// What a thread knows of the communicators that it used last.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "mpi/mpi.hpp"

namespace swapmeet {

class Communicator;

/// Number of times so far that handles may have come to mean something else: a communicator was freed, or MPI_Finalize
/// was called.
inline std::atomic<std::uint64_t> deaths{0};

/// The counter of first calls on a communicator that are left to the host MPI (left_calls.hpp).
struct LeftCalls {
  int made = 0, most = 0;  ///< calls that were left, and the number of calls to leave

  /// Returns whether this call is left, and counts it.
  bool leaves() { return made < most && (++made, true); }
};

/// A cache of the communicators that a thread used last. A handle can mean another communicator only after it has been
/// freed, which `deaths` counts.
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
  /// One of `communicator` and `left_calls` is nullptr.
  void note(MPI_Comm comm, Communicator* communicator, LeftCalls* left_calls, std::uint64_t deaths_before) {
    entries_[place(comm)] = {comm, communicator, left_calls, deaths_before};
  }

 private:
  struct Entry {
    MPI_Comm comm;
    Communicator* communicator;
    LeftCalls* left_calls;
    std::uint64_t deaths_before;

    bool is_of(MPI_Comm other) const {
      return comm == other && deaths_before == deaths.load(std::memory_order_acquire);
    }
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
