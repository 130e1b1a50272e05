/* One MPI_Alltoall and one MPI_Alltoallv, checked; then rank 0 prints each MPI that was loaded into its process. */
#define _GNU_SOURCE
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RANKS = 64 };

static int print_if_mpi(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  const char *name = strrchr(object->dlpi_name, '/');
  if (name && (!strncmp(name, "/libmpi.so", 10) || !strncmp(name, "/libmpich.so", 12) || !strncmp(name, "/libmpi_abi.so", 14)))
    printf("loaded: %s\n", object->dlpi_name);
  return 0;
}

int main(int argc, char **argv) {
  int rank, ranks, ones[MOST_RANKS], places[MOST_RANKS], sent[MOST_RANKS], received[2][MOST_RANKS], wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) {
    ones[i] = 1;
    places[i] = i;
    sent[i] = 100 * rank + i;
    received[0][i] = received[1][i] = -1;
  }
  MPI_Alltoall(sent, 1, MPI_INT, received[0], 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(sent, ones, places, MPI_INT, received[1], ones, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) wrong += (received[0][i] != 100 * i + rank) + (received[1][i] != 100 * i + rank);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong: %d\n", wrong);
  if (rank == 0) dl_iterate_phdr(print_if_mpi, NULL);
  MPI_Finalize();
  return wrong != 0;
}
