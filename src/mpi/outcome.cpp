#include "mpi/outcome.hpp"

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

int Outcome::noted(int error) {
  if (error == MPI_SUCCESS || error_class(error) != MPI_ERR_TRUNCATE) return error;
  if (received_wrong_ == MPI_SUCCESS) received_wrong_ = error;
  return MPI_SUCCESS;
}

int Outcome::wait_all(std::span<MPI_Request> requests, MPI_Status* statuses) {
  while (true) {
    const int error = PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses);
    if (error == MPI_SUCCESS) return error;
    if (const int what = judged(error, requests.size(), statuses); what != unfinished) return what;
  }
}

int Outcome::test_all(std::span<MPI_Request> requests, MPI_Status* statuses) {
  int flag = 0;
  const int error = PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, statuses);
  if (error == MPI_SUCCESS) return flag ? MPI_SUCCESS : unfinished;
  return judged(error, requests.size(), statuses);
}

int Outcome::judged(int error, std::size_t count, const MPI_Status* statuses) {
  if (error_class(error) != MPI_ERR_IN_STATUS) return noted(error);
  bool pending = false;
  for (std::size_t i = 0; i < count; ++i) {
    const int its_class = error_class(statuses[i].MPI_ERROR);
    pending |= its_class == MPI_ERR_PENDING;
    if (its_class == MPI_SUCCESS || its_class == MPI_ERR_PENDING) continue;
    if (const int fatal = noted(statuses[i].MPI_ERROR)) return fatal;
  }
  return pending ? unfinished : MPI_SUCCESS;
}

void abandon(std::span<MPI_Request> receives, std::span<MPI_Request> sends) {
  for (MPI_Request& request : receives) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (MPI_Request& request : sends)
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
}

}  // namespace swapmeet
