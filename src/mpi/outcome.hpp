/// What became of messages: errors of MPI, and which of them end an exchange.
#pragma once

#include <climits>
#include <span>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// In place of an error of MPI: what was asked for is not there yet; call again.
inline constexpr int unfinished = INT_MIN;

/// Whether MPI refused the arguments of a call, so that nothing was sent.
bool refused(int error);

/// The errors of one exchange.
class Outcome {
 public:
  /// A message that did not fit is over nonetheless: the exchange goes on, so that the ranks stay in step, and the
  /// first such error is remembered. Other errors end it: they are returned.
  int noted(int error);

  /// Waits for all requests. The statuses are there to say what went wrong: without them MPI_Waitall says no more than
  /// that something did. What it left pending is waited for again.
  int wait_all(std::span<MPI_Request> requests, MPI_Status* statuses);

  /// The same without waiting: `unfinished` if some are.
  int test_all(std::span<MPI_Request> requests, MPI_Status* statuses);

  /// The first message that did not fit, MPI_SUCCESS if all did.
  int received_wrong() const { return received_wrong_; }

 private:
  /// What follows from an error that concerns several requests; `unfinished` if some of them are.
  int judged(int error, std::size_t count, const MPI_Status* statuses);
  int received_wrong_ = MPI_SUCCESS;
};

/// After an error: nothing may arrive in the application's buffers any more.
void abandon(std::span<MPI_Request> receives, std::span<MPI_Request> sends);

}  // namespace swapmeet
