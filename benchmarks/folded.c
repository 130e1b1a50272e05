/* MPI_Alltoall of more bytes than a simulation has memory for: all ranks, which live in one process there, send out of
 * one buffer and receive into another, so nothing that arrives can be looked at. For smpicc only.
 *
 *   swapmeet simulate --machine cscs-slimfly -n 200 --ranks-per-node 1 random-sendrecv native:mpich -- benchmarks/folded.c BYTES...
 *
 * Prints the simulated time of one call with each size of blocks, all ranks beginning at once (docs/networks.md). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void refuse(const char *problem) {
  fprintf(stderr, "folded: %s\n", problem);
  exit(2); /* SimGrid 3.32 ends with status 0 after MPI_Abort */
}

/* The simulated seconds of one call, over all ranks: on rank 0. */
static double timed(char *const buffers[2], int bytes) {
  double now = MPI_Wtime(), begin, longest;
  MPI_Allreduce(&now, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  begin += 0.5; /* the allreduce itself takes less */
  smpi_nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * (begin - MPI_Wtime()))}, NULL);
  MPI_Alltoall(buffers[0], bytes, MPI_CHAR, buffers[1], bytes, MPI_CHAR, MPI_COMM_WORLD);
  now = MPI_Wtime() - begin;
  MPI_Reduce(&now, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return longest;
}

int main(int argc, char **argv) {
  int rank, ranks;
  char *buffers[2] = {NULL, NULL}; /* addresses of rank 0, valid on all */
  size_t most = 8;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    if (atoi(argv[i]) < 1) refuse("BYTES are numbers from 1 to 2147483647");
    if ((size_t)atoi(argv[i]) > most) most = (size_t)atoi(argv[i]);
  }
  for (int i = 0; i < 2 && rank == 0; ++i)
    if (!(buffers[i] = malloc((size_t)ranks * most))) refuse("no memory for so many bytes");
  MPI_Bcast(buffers, sizeof buffers, MPI_BYTE, 0, MPI_COMM_WORLD);
  timed(buffers, 8); /* makes plans */
  for (int i = 1; i < argc; ++i) {
    const double seconds = timed(buffers, atoi(argv[i]));
    if (rank == 0) printf("%s B: %.1f us\n", argv[i], 1e6 * seconds);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) free(buffers[0]), free(buffers[1]);
  MPI_Finalize();
  return 0;
}
