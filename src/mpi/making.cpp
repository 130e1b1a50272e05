#include "mpi/making.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "mpi/agreement.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

/// Held by who makes a communicator: shared by the application's threads, alone by us, who never wait for it. Never destroyed.
std::shared_mutex& makers() {
  static auto* const only = new std::shared_mutex;
  return *only;
}

std::atomic<bool> in_background{false};

}  // namespace

ApplicationMakes::ApplicationMakes() { makers().lock_shared(); }
ApplicationMakes::~ApplicationMakes() { makers().unlock_shared(); }

void makes_in_background() { in_background = true; }

MadeComm make_same_ranks(MPI_Comm user, bool several_threads) {
  enum : std::int64_t { now, later, never };
  constexpr int attempts = 3;
  std::int64_t answer = now;
  for (int attempt = 0; attempt < attempts && answer != never; ++attempt) {
    std::unique_lock alone(makers(), std::defer_lock);
    if (!host_is_mpich && !simulated) {
      // Whoever holds the lock waits for ranks which are there already, and wait for nothing else.
      if (several_threads) most_of_any_rank(now, user);
      const bool free = alone.try_lock();
      answer = most_of_any_rank(in_background ? never : free ? now : later, user);
    }
    if (answer == now) {
      const MPI_Comm comm = same_ranks(user);
      return {comm, comm == MPI_COMM_NULL ? none_left : nullptr};
    }
    if (alone.owns_lock()) alone.unlock();
    if (answer == later) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return {MPI_COMM_NULL, answer == never ? may_be_made : made_meanwhile};
}

}  // namespace swapmeet
