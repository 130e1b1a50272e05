/* All-to-alls of four kinds, checked; then rank 0 prints each MPI that was loaded into its process. */
#define _GNU_SOURCE
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RANKS = 64, KINDS = 4 };

static int print_if_mpi(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  const char *name = strrchr(object->dlpi_name, '/');
  if (name &&
      (!strncmp(name, "/libmpi.so", 10) || !strncmp(name, "/libmpich.so", 12) || !strncmp(name, "/libmpi_abi.so", 14)))
    printf("loaded: %s\n", object->dlpi_name);
  return 0;
}

int main(int argc, char **argv) {
  int rank, ranks, ones[MOST_RANKS], places[MOST_RANKS], bytes[MOST_RANKS], sent[MOST_RANKS],
      received[KINDS][MOST_RANKS], wrong = 0;
  MPI_Request request;
  MPI_Datatype types[MOST_RANKS];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) {
    ones[i] = 1;
    places[i] = i;
    bytes[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
    sent[i] = 100 * rank + i;
    for (int kind = 0; kind < KINDS; ++kind) received[kind][i] = -1;
  }
  MPI_Alltoall(sent, 1, MPI_INT, received[0], 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(sent, ones, places, MPI_INT, received[1], ones, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Ialltoallw(sent, ones, bytes, types, received[2], ones, bytes, types, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4 /* Open MPI 5 has it, but not 4, on which programs linked with 5 are run */
  MPI_Alltoall_init(sent, 1, MPI_INT, received[3], 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
#else
  memcpy(received[3], received[2], sizeof received[3]);
#endif
  for (int i = 0; i < KINDS * ranks; ++i) wrong += received[i / ranks][i % ranks] != 100 * (i % ranks) + rank;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong: %d\n", wrong);
  if (rank == 0) dl_iterate_phdr(print_if_mpi, NULL);
  MPI_Finalize();
  return wrong != 0;
}
