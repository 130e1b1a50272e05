/* set_up_loop N ROUNDS CALLS: rounds of N communicators, each of which is split off, serves so many calls of MPI_Alltoall with blocks of
 * 8 bytes, and is freed. */
#include <mpi.h>
#include <stdlib.h>

/* Where a tool may divide what it counts. */
__attribute__((noinline)) void round_ends(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double *send = calloc((size_t)ranks, sizeof *send), *receive = calloc((size_t)ranks, sizeof *receive);
  for (int round = 0; round < atoi(argv[2]); ++round) {
    for (int one = 0; one < atoi(argv[1]); ++one) {
      MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
      for (int call = 0; call < atoi(argv[3]); ++call) MPI_Alltoall(send, 1, MPI_DOUBLE, receive, 1, MPI_DOUBLE, comm);
      MPI_Comm_free(&comm);
    }
    round_ends();
  }
  free(send), free(receive);
  MPI_Finalize();
  return 0;
}
