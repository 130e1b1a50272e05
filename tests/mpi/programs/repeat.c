/* repeat N: N cached calls of MPI_Alltoall with blocks of 8 bytes. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double *send = calloc((size_t)ranks, sizeof *send), *receive = calloc((size_t)ranks, sizeof *receive);
  for (int call = 0; call < atoi(argv[1]); ++call)
    MPI_Alltoall(send, 1, MPI_DOUBLE, receive, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  free(send), free(receive);
  MPI_Finalize();
  return 0;
}
