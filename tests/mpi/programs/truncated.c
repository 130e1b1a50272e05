/* Rank 0 sends more than the others expect, on a communicator that returns errors. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, ranks, provided, class, sent[64] = {0}, received[64], send[16], receive[16], places[16];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < ranks; ++i) send[i] = rank == 0 && i > 0 ? 2 : 1, receive[i] = 1, places[i] = 2 * i;
  const int code = MPI_Alltoallv(sent, send, places, MPI_INT, received, receive, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Error_class(code, &class);
  if (class == MPI_ERR_TRUNCATE) printf("returned\n");
  MPI_Finalize();
  return 0;
}
