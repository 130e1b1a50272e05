#include "exchange/failure.hpp"

#include "exchange/lost_data.hpp"
#include "mpi/faults.hpp"
#include "mpi/outcome.hpp"

namespace swapmeet {

// MPI_Waitall and MPI_Testall are not used: MPICH raises their errors on MPI_COMM_SELF, where they end the application.
// It raises errors of MPI_Wait and MPI_Test on the communicator of the message, which is the job's.
int finish(std::span<MPI_Request> requests, std::size_t receives, MPI_Status* statuses, Failure& failure,
           bool passes_on, bool waits, const Team& team) {
  bool all = true;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    MPI_Request& request = requests[i];
    MPI_Status* const status = &statuses[i];
    for (int attempt = 1; request != MPI_REQUEST_NULL; ++attempt) {
      int flag = 1;
      const int error = waits ? wait(request, status, team) : test(request, flag, status, team);
      if (error == MPI_SUCCESS) [[likely]] {
        if (flag && i < receives && LostData::is_substitute(*status)) [[unlikely]]
          failure.received_wrong(MPI_ERR_TRUNCATE, passes_on);
        all &= flag != 0;
        break;
      }
      if (is_fault(error)) return error;
      if (truncated(error)) failure.received_wrong(error, passes_on);
      else if (request == MPI_REQUEST_NULL) failure.fail(error);  // the request is complete, but its data are unknown
      else if (attempt == most_attempts) return error;
    }
  }
  return all ? MPI_SUCCESS : unfinished;
}

int test_any(std::span<MPI_Request> requests, int& index, MPI_Status* status, const Team& team) {
  int flag = 0;
  index = MPI_UNDEFINED;
  if (!host_is_mpich && !survives_faults) {
    const int error = PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag, status);
    if (!error && !flag) index = MPI_UNDEFINED;
    return error;
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const int error = test(requests[i], flag, status, team);
    if (!error && !flag) continue;
    index = static_cast<int>(i);
    return error;
  }
  return MPI_SUCCESS;
}

}  // namespace swapmeet
