#include "mpi/outcome.hpp"

#include <sched.h>

#include <chrono>

#include "mpi/faults.hpp"

namespace swapmeet {

namespace {

int error_class(int error) {
  int its_class = MPI_SUCCESS;
  PMPI_Error_class(error, &its_class);
  return its_class;
}

/// Tests `request` until it is complete or the time is `until`. A message that has been matched cannot be cancelled: it
/// arrives soon from a rank that is alive, and never from one that has died.
void end_soon(MPI_Request& request, std::chrono::steady_clock::time_point until) {
  int done = 0;
  while (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done &&
         std::chrono::steady_clock::now() < until)
    sched_yield();
}

}  // namespace

bool refused(int error) {
  if (error == MPI_SUCCESS) return false;
  const int its_class = error_class(error);
  return its_class == MPI_ERR_TYPE || its_class == MPI_ERR_COUNT || its_class == MPI_ERR_BUFFER ||
         its_class == MPI_ERR_ARG;
}

bool truncated(int error) { return error != MPI_SUCCESS && error_class(error) == MPI_ERR_TRUNCATE; }

void abandon(std::span<MPI_Request> receives, std::span<MPI_Request> sends) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (MPI_Request& request : receives) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    survives_faults ? end_soon(request, until) : void(PMPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  // If the receiver of a freed send request has died, Open MPI ends the application ("Send error after request freed").
  // So the requests are not freed if ranks may die.
  if (survives_faults) return;
  for (MPI_Request& request : sends)
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
}

}  // namespace swapmeet
