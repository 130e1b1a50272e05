/* repeat N [ROUNDS]: rounds, one if none are given, of N cached calls of MPI_Alltoall with blocks of 8 bytes. */
#include <mpi.h>
#include <stdlib.h>

/* Where a tool may divide what it counts. */
__attribute__((noinline)) void round_ends(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double *send = calloc((size_t)ranks, sizeof *send), *receive = calloc((size_t)ranks, sizeof *receive);
  for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 1); ++round) {
    for (int call = 0; call < atoi(argv[1]); ++call)
      MPI_Alltoall(send, 1, MPI_DOUBLE, receive, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    round_ends();
  }
  free(send), free(receive);
  MPI_Finalize();
  return 0;
}
