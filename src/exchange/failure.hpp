/// The errors of one exchange on this rank. The exchange continues after an error, so that all ranks stay in step.
#pragma once

#include <span>

#include "engine/engine.hpp"
#include "mpi/mpi.hpp"
#include "team/messages.hpp"

namespace swapmeet {

struct Failure {
  int error = MPI_SUCCESS;  ///< the first error
  /// Set when data are lost on this rank. It marks all messages that it sends from then on, so that their receivers
  /// fail, too.
  bool marks = false;

  /// Records that an operation failed on this rank and its data are lost.
  void fail(int what) {
    if (error == MPI_SUCCESS) error = what;
    marks = true;
  }

  /// Records that a message was received incorrectly. `passes_on`: its content may be sent on to other ranks.
  void received_wrong(int what, bool passes_on) {
    if (error == MPI_SUCCESS) error = what;
    marks |= passes_on;
  }
};

/// Completes all requests, which belong to messages of `team`; the first `receives` of them are receives. Waits for
/// them if `waits`; otherwise returns `unfinished` if some are still under way. A truncated message counts as complete
/// and is recorded in `failure`. Other errors are returned only if they persist.
int finish(std::span<MPI_Request> requests, std::size_t receives, MPI_Status* statuses, Failure& failure,
           bool passes_on, bool waits, const Team& team);

/// Looks for a completed request of a message of `team`. Sets `index` to its position, or to MPI_UNDEFINED if none is
/// complete. After an error, `index` is the request that failed.
int test_any(std::span<MPI_Request> requests, int& index, MPI_Status* status, const Team& team);

}  // namespace swapmeet
