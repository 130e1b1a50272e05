/* An MPI_Alltoall that flips a bit of its answer; or, with -DREADS_TOO_MUCH, an MPI_Alltoallv that reads one count too many: to see
 * that the suite notices. */
#include <mpi.h>

#ifndef READS_TOO_MUCH

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
  const int error = PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
  MPI_Aint lower_bound = 0, extent = 0;
  if (PMPI_Type_get_true_extent(receive_type, &lower_bound, &extent) == MPI_SUCCESS && receive_count > 0 && extent > 0)
    ((char *)receive)[lower_bound] ^= 1;
  return error;
}

#else

int MPI_Alltoallv(const void *send, const int *send_counts, const int *send_places, MPI_Datatype send_type,
                  void *receive, const int *receive_counts, const int *receive_places, MPI_Datatype receive_type,
                  MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  (void)*(volatile const int *)&receive_counts[ranks];
  return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                        receive_type, comm);
}

#endif
