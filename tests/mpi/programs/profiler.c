/* A profiling tool as MPI means it: wraps MPI_ names, calls PMPI_ names, says at the end what it saw. */
#include <mpi.h>
#include <stdio.h>

static int alltoalls, alltoallvs;

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
  ++alltoalls;
  return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
}

int MPI_Alltoallv(const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                  void *receive, const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
                  MPI_Comm comm) {
  ++alltoallvs;
  return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                        receive_type, comm);
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("profiler: %d Alltoall, %d Alltoallv\n", alltoalls, alltoallvs);
  fflush(stdout);
  return PMPI_Finalize();
}
