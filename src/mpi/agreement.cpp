#include "mpi/agreement.hpp"

namespace swapmeet {

bool same_everywhere(std::uint64_t number, MPI_Comm comm, std::uint64_t& most, std::uint64_t& least) {
  std::uint64_t mine[] = {number, ~number, ~most, least}, all[4];
  if (PMPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_MIN, comm) != MPI_SUCCESS) return false;
  most = ~all[2];
  least = all[3];
  return all[0] == ~all[1];
}

std::int64_t most_of_any_rank(std::int64_t number, MPI_Comm comm) {
  PMPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MAX, comm);
  return number;
}

// Not MPI_Comm_dup, which would call the application's attribute callbacks; nor may a failure reach its error handler.
MPI_Comm same_ranks(MPI_Comm user) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_group(user, &group) != MPI_SUCCESS || PMPI_Comm_get_errhandler(user, &handler) != MPI_SUCCESS)
    return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(user, MPI_ERRORS_RETURN);
  if (PMPI_Comm_create(user, group, &comm) != MPI_SUCCESS) comm = MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(user, handler);
  PMPI_Errhandler_free(&handler);
  PMPI_Group_free(&group);
  if (comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

}  // namespace swapmeet
