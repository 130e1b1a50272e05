/// A wait for all ranks of a communicator, in a call of ours that ranks without the library never make: such a job hangs.
/// Where the wait takes long, one rank prints one line that names the ranks without the library, or why there may be some.
///
/// The host MPI itself looks at the clock, in its progress (begin_looking()); where it calls nobody, a thread does, which lives
/// as long as the wait, and a second more. Neither takes a lock that a rank waits for, nor calls MPI.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"

namespace swapmeet {

class SlowWait {
 public:
  static constexpr double usual_limit_s = 10;

  /// Watches the wait that follows, until it is destroyed. `where` the rank waits, as in "MPI_Init". Of several waits of a
  /// process at a time, in several threads, only the first is watched. Local; `comm` must not be an intercommunicator.
  SlowWait(MPI_Comm comm, const char* where, double limit_s = usual_limit_s);
  ~SlowWait();
  SlowWait(const SlowWait&) = delete;
  SlowWait& operator=(const SlowWait&) = delete;

  /// A wait for all ranks of MPI_COMM_WORLD is over: from now on no wait is watched.
  static void all_ranks_came();

 private:
  using Clock = std::chrono::steady_clock;

  static bool look_at_current();
  static int look_now_and_then();
  void look();
  void report(bool late);

  bool watched_ = false;
  const char* where_;
  std::vector<int> world_ranks_;
  int rank_ = 0, world_rank_ = 0;
  std::chrono::duration<double> limit_, waited_{};
  Clock::time_point looked_{};
  int asked_ = 0;  ///< how often report() was called; 2: it has printed, or never will
};

/// What to do about ranks without the library, and how to check, in sentences.
std::string how_to_preload();

}  // namespace swapmeet
