/// Detection of ranks without the library. The library waits for all ranks of a communicator in calls that a rank
/// without the library never makes, so such a job hangs. If a wait takes long, one rank prints one line, which names
/// the ranks without the library, or says that there may be some.
///
/// The elapsed time is checked in the host MPI's progress (begin_looking()). If the host MPI has no callbacks, a thread
/// checks it, which lives as long as the wait and at most a tenth of the limit longer. Neither calls MPI, nor takes a
/// lock for which a rank waits.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// A scope in which this rank waits for all ranks of a communicator.
class SlowWait {
 public:
  static constexpr double usual_limit_s = 10;

  /// Watches the wait that follows, until this object is destroyed. `where` names the call in which the rank waits, for
  /// example "MPI_Init". If several threads of a process wait at a time, only the first wait is watched. Local; `comm`
  /// must not be an intercommunicator.
  SlowWait(MPI_Comm comm, const char* where, double limit_s = usual_limit_s);
  ~SlowWait();
  SlowWait(const SlowWait&) = delete;
  SlowWait& operator=(const SlowWait&) = delete;

  /// Reports that a wait for all ranks of MPI_COMM_WORLD is over: all have the library, and no wait is watched any
  /// more.
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
  int asked_ = 0;  ///< number of calls of report(); 2 if it has printed, or never will
};

/// Advice for the user: how to preload the library in all ranks, and how to check that.
std::string how_to_preload();

}  // namespace swapmeet
