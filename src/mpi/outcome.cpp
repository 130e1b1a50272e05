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

int test_without_fault(MPI_Request& request, int& done, MPI_Status* status, MPI_Comm comm) {
  constexpr std::uint32_t looks_between = 64;  // for ranks that have died, whose messages never seem to be over
  thread_local std::uint32_t looks = 0;
  int over = 0;
  done = 0;
  PMPI_Request_get_status(request, &over, MPI_STATUS_IGNORE);
  if (is_revoked(comm)) return rank_died();
  if (over) return PMPI_Test(&request, &done, status);
  return ++looks % looks_between == 0 && lacks_rank(comm) ? rank_died() : MPI_SUCCESS;
}

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
