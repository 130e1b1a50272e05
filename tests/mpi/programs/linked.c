/* A program that links libswapmeet instead of having it preloaded, from C89 on. */
#include <mpi.h>
#include <stdio.h>
#include <swapmeet/swapmeet.h>

int main(int argc, char **argv) {
  int rank, send[16], receive[16], k;
  printf("%s | %s\n", swapmeet_version(), swapmeet_built_for());
  fflush(stdout);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (k = 0; k < 16; ++k) send[k] = 100 * rank + k;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Finalize();
  return receive[1] == 100 + rank ? 0 : 1;
}
