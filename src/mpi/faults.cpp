#include "mpi/faults.hpp"

#include <algorithm>
#include <atomic>

#include "mpi/world_ranks.hpp"

namespace swapmeet {

namespace {

// The error classes of faults. MPI 5 has no names for them yet.
#if defined(MPI_ERR_PROC_FAILED)
constexpr int died = MPI_ERR_PROC_FAILED, died_perhaps = MPI_ERR_PROC_FAILED_PENDING, revoked = MPI_ERR_REVOKED;
#elif defined(MPIX_ERR_PROC_FAILED)
constexpr int died = MPIX_ERR_PROC_FAILED, died_perhaps = MPIX_ERR_PROC_FAILED_PENDING, revoked = MPIX_ERR_REVOKED;
#else
constexpr int died = MPI_ERR_OTHER, died_perhaps = died, revoked = died;
#endif

std::atomic<bool> seen{false};

}  // namespace

bool had_fault() { return seen.load(std::memory_order_relaxed); }

void find_fault_tolerance() {
  const auto* const open_mpi = static_cast<const bool*>(mpi_symbol("ompi_ftmpi_enabled"));
  survives_faults = open_mpi && *open_mpi;
}

bool is_fault(int error) {
  if (error == MPI_SUCCESS || !survives_faults) return false;
  int its_class = MPI_SUCCESS;
  PMPI_Error_class(error, &its_class);
  const bool is = its_class == died || its_class == died_perhaps || its_class == revoked;
  if (is) seen.store(true, std::memory_order_relaxed);
  return is;
}

int fault_error() { return died; }

bool is_revoked(MPI_Comm comm) {
  using IsRevoked = int (*)(MPI_Comm, int*);
  static const auto function = reinterpret_cast<IsRevoked>(mpi_symbol("PMPIX_Comm_is_revoked"));
  int flag = 0;
  if (function) function(comm, &flag);
  return flag != 0;
}

bool has_died(MPI_Comm comm, std::span<const int> ranks) {
  using GetFailed = int (*)(MPI_Comm, MPI_Group*);
  static const auto function = reinterpret_cast<GetFailed>(mpi_symbol("PMPIX_Comm_get_failed"));
  MPI_Group dead = MPI_GROUP_NULL;
  int number = 0;
  if (!function || comm == MPI_COMM_NULL || function(comm, &dead) != MPI_SUCCESS) return false;
  PMPI_Group_size(dead, &number);
  const bool found = number > 0 && std::ranges::any_of(ranks_of_group(dead, comm), [&](int rank) {
                       return std::ranges::find(ranks, rank) != ranks.end();
                     });
  PMPI_Group_free(&dead);
  return found;
}

void acknowledge_failures(MPI_Comm comm) {
  using Acknowledge = int (*)(MPI_Comm);
  static const auto function = reinterpret_cast<Acknowledge>(mpi_symbol("PMPIX_Comm_failure_ack"));
  if (function && comm != MPI_COMM_NULL) function(comm);
}

int fault_on(MPI_Comm user) {
  if (is_revoked(user)) return revoked;
  return fault_error();
}

}  // namespace swapmeet
