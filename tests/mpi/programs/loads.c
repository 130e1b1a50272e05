/* Prints how many shared libraries all-to-alls load after the first one. */
#define _GNU_SOURCE
#include <link.h>
#include <mpi.h>
#include <stdio.h>

static int note(struct dl_phdr_info *library, size_t size, void *adds) {
  (void)size;
  *(unsigned long long *)adds = library->dlpi_adds;
  return 1;
}

int main(int argc, char **argv) {
  unsigned long long before = 0, after = 0;
  char send[64] = {0}, receive[64];
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 200; ++i) {
    MPI_Alltoall(send, 8, MPI_CHAR, receive, 8, MPI_CHAR, MPI_COMM_WORLD);
    if (i == 0) dl_iterate_phdr(note, &before);
  }
  dl_iterate_phdr(note, &after);
  if (rank == 0) printf("loaded: %llu\n", after - before);
  MPI_Finalize();
  return 0;
}
