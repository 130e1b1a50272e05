/* MPI_Alltoall in place, from 128 KiB to 4 MiB for each destination, where all ranks together exchange up to 512 MiB:
 * microseconds a call, the median of five loops of ten calls with a barrier before each, of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { least = 128 << 10, most = 4 << 20, most_of_rank = 32 << 20, loops = 5, calls = 10 };

static int ascending(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double loop(char *blocks, int bytes) {
  double mine = 0, slowest = 0;
  for (int i = 0; i < calls; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    mine -= MPI_Wtime();
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, blocks, bytes, MPI_CHAR, MPI_COMM_WORLD);
    mine += MPI_Wtime();
  }
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / calls;
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int bytes = least; bytes <= most && (size_t)bytes * (size_t)ranks <= most_of_rank; bytes *= 2) {
    char *const blocks = malloc((size_t)bytes * (size_t)ranks);
    double seconds[loops];
    memset(blocks, rank, (size_t)bytes * (size_t)ranks);
    for (int i = 0; i < loops; ++i) seconds[i] = loop(blocks, bytes);
    qsort(seconds, loops, sizeof *seconds, ascending);
    if (rank == 0) printf("%d:%.0f ", bytes >> 10, 1e6 * seconds[loops / 2]);
    free(blocks);
  }
  if (rank == 0) puts("");
  MPI_Finalize();
  return 0;
}
