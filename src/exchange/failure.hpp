/// What went wrong in one exchange on this rank, while it goes on so that all ranks stay in step.
#pragma once

#include <span>

#include "engine/engine.hpp"
#include "mpi/mpi.hpp"
#include "team/messages.hpp"

namespace swapmeet {

struct Failure {
  int error = MPI_SUCCESS;  ///< the first
  /// What this rank sends from now on is not what its receivers expect, and is marked: they fail, too.
  bool marks = false;

  /// Something failed on this rank: its data are lost.
  void fail(int what) {
    if (error == MPI_SUCCESS) error = what;
    marks = true;
  }

  /// A message was not as it should be. `passes_on`: what arrives may be sent on.
  void received_wrong(int what, bool passes_on) {
    if (error == MPI_SUCCESS) error = what;
    marks |= passes_on;
  }
};

/// Finishes all requests, of messages of `team`: waits for them, or returns `unfinished` if some are under way. A message that
/// did not fit is over nonetheless, and noted in `failure`. Other errors are returned where they come again and again.
int finish(std::span<MPI_Request> requests, std::size_t receives, MPI_Status* statuses, Failure& failure,
           bool passes_on, bool waits, const Team& team);

/// Looks for a request, of a message of `team`, that is over: its index, or MPI_UNDEFINED. After an error it is that of the
/// request that has it.
int test_any(std::span<MPI_Request> requests, int& index, MPI_Status* status, const Team& team);

}  // namespace swapmeet
