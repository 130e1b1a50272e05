#include "mpi/outcome.hpp"

#include <cstdint>

#include "mpi/faults.hpp"

namespace swapmeet {

namespace {

int error_class(int error) {
  int its_class = MPI_SUCCESS;
  PMPI_Error_class(error, &its_class);
  return its_class;
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
  for (MPI_Request& request : receives) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  // Open MPI ends the application ("Send error after request freed") where the receiver of one has died: it is kept.
  if (survives_faults) return;
  for (MPI_Request& request : sends)
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
}

}  // namespace swapmeet
