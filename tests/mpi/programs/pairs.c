/* Exchanges of many sizes in pairs of ranks, every byte checked. Prints "pairs: right". */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, GUARD = 64 };
#define PROGRAM "pairs"
#include "checked_exchange.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm pair;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  unsigned char *const send = malloc(MOST), *const receive = malloc(MOST);
  for (int round = 0; round < 3; ++round)
    for (int bytes = 1; bytes < MOST / 4; bytes = 3 * bytes + 1) exchange(pair, send, receive, bytes);
  free(send), free(receive);
  MPI_Comm_free(&pair);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("pairs: right");
  MPI_Finalize();
  return 0;
}
