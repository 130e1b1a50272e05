#include "exchange/failure.hpp"

#include <sched.h>

#include "exchange/lost_data.hpp"
#include "mpi/faults.hpp"
#include "mpi/outcome.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

constexpr int patience = 5;  ///< polls before others may have the core

/// By looks, where MPI_Wait of MPICH 5 takes 0.8 us longer, and spins without giving its core away; and where a wait must not
/// complete what a revocation has ended.
int wait(MPI_Request& request, MPI_Status* status, MPI_Comm comm) {
  if (simulated || !(host_is_mpich || survives_faults)) return PMPI_Wait(&request, status);
  for (int polls = 1;; ++polls) {
    int done = 0;
    const int error = test_again(request, done, status, comm);
    if (error || done) return error;
    if (polls >= patience) sched_yield();
  }
}

}  // namespace

// Not MPI_Waitall nor MPI_Testall: MPICH raises their errors on MPI_COMM_SELF, where they end the application, and those
// of MPI_Wait and MPI_Test on the communicator of the message, which is ours.
int finish(std::span<MPI_Request> requests, std::size_t receives, MPI_Status* statuses, Failure& failure,
           bool passes_on, bool waits, MPI_Comm comm) {
  bool all = true;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    MPI_Request& request = requests[i];
    MPI_Status* const status = &statuses[i];
    for (int attempt = 1; request != MPI_REQUEST_NULL; ++attempt) {
      int flag = 1;
      const int error = waits ? wait(request, status, comm) : test(request, flag, status, comm);
      if (error == MPI_SUCCESS) [[likely]] {
        if (flag && i < receives && LostData::came_with(*status)) [[unlikely]]
          failure.received_wrong(MPI_ERR_TRUNCATE, passes_on);
        all &= flag != 0;
        break;
      }
      if (is_fault(error)) return error;
      if (truncated(error)) failure.received_wrong(error, passes_on);
      else if (request == MPI_REQUEST_NULL) failure.fail(error);  // it is over, and nobody knows what it brought
      else if (attempt == most_attempts) return error;
    }
  }
  return all ? MPI_SUCCESS : unfinished;
}

int test_any(std::span<MPI_Request> requests, int& index, MPI_Status* status, MPI_Comm comm) {
  int flag = 0;
  index = MPI_UNDEFINED;
  if (!host_is_mpich && !survives_faults) {
    const int error = PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag, status);
    if (!error && !flag) index = MPI_UNDEFINED;
    return error;
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const int error = test(requests[i], flag, status, comm);
    if (!error && !flag) continue;
    index = static_cast<int>(i);
    return error;
  }
  return MPI_SUCCESS;
}

}  // namespace swapmeet
