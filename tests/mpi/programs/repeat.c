/* repeat N [ROUNDS [FORM]]: rounds, one if none are given, of N cached calls of MPI_Alltoall with blocks of 8 bytes, or of
 * MPI_Ialltoall or MPI_Ialltoallv, each with its MPI_Wait, if FORM is such a name. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Where a tool may divide what it counts. */
__attribute__((noinline)) void round_ends(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double *send = calloc((size_t)ranks, sizeof *send), *receive = calloc((size_t)ranks, sizeof *receive);
  int *counts = malloc((size_t)ranks * sizeof *counts), *places = malloc((size_t)ranks * sizeof *places);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i;
  const char *form = argc > 3 ? argv[3] : "Alltoall";
  for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 1); ++round) {
    for (int call = 0; call < atoi(argv[1]); ++call) {
      MPI_Request request = MPI_REQUEST_NULL;
      if (!strcmp(form, "Ialltoall"))
        MPI_Ialltoall(send, 1, MPI_DOUBLE, receive, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request);
      else if (!strcmp(form, "Ialltoallv"))
        MPI_Ialltoallv(send, counts, places, MPI_DOUBLE, receive, counts, places, MPI_DOUBLE, MPI_COMM_WORLD, &request);
      else MPI_Alltoall(send, 1, MPI_DOUBLE, receive, 1, MPI_DOUBLE, MPI_COMM_WORLD);
      if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    round_ends();
  }
  free(send), free(receive), free(counts), free(places);
  MPI_Finalize();
  return 0;
}
