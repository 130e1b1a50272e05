/* beyond_limits: MPI_Ialltoall in place with MPI_THREAD_MULTIPLE, of blocks that are too large for the limits on memory,
 * after ones that are not. It prints "beyond_limits: right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 60, LARGE = 50000 };

int main(int argc, char **argv) {
  int me, ranks, wrong = 0, all = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &all);
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *const blocks = malloc((size_t)ranks * LARGE * sizeof *blocks);
  for (int round = 0; round < ROUNDS; ++round) {
    const int elements = round % 3 == 0 ? 1 : LARGE;
    for (int k = 0; k < ranks * elements; ++k) blocks[k] = 1000 * round + 10 * me + k / elements;
    MPI_Request request;
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, blocks, elements, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < ranks * elements; ++k) wrong += blocks[k] != 1000 * round + 10 * (k / elements) + me;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(blocks);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf(all ? "beyond_limits: %d elements are wrong\n" : "beyond_limits: right\n", all);
  MPI_Finalize();
  return 0;
}
