/* neighbour_sizes ring|all BYTESxCALLS...: so many MPI_Neighbor_alltoall with blocks of so many bytes, one after the other,
 * among ranks of a ring of both directions or of a graph of all ranks, with every byte checked. Rank 0 prints in which calls,
 * counted from 1, the ranks have agreed on anything ("agreed: 1 8 64"), as far as agreements.c is preloaded,
 * and "neighbour_sizes: right". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, POISON = 0xA5 };

static unsigned char value(int call, int from, int to, int at) {
  return (unsigned char)(call * 3 + from * 31 + to * 17 + at * 7);
}

int main(int argc, char **argv) {
  int rank, ranks, degree = 0, peers[MOST_RANKS], wrong = 0, calls = 0;
  MPI_Comm graph;
  const int *const counter = dlsym(RTLD_DEFAULT, "agreements");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3 || ranks < 3 || ranks > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 1; i < ranks; ++i)
    if (!strcmp(argv[1], "all") || i == 1 || i == ranks - 1) peers[degree++] = (rank + i) % ranks;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, peers, peers, degree, peers, peers, MPI_INFO_NULL, 0, &graph);
  if (rank == 0) printf("agreed:");
  for (int phase = 2; phase < argc; ++phase) {
    int bytes = 0, number = 0;
    if (sscanf(argv[phase], "%dx%d", &bytes, &number) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    const size_t all = (size_t)degree * (size_t)bytes;
    unsigned char *const send = malloc(all), *const receive = malloc(all);
    if (!send || !receive) MPI_Abort(MPI_COMM_WORLD, 2);
    while (number-- > 0) {
      const int before = counter ? *counter : 0;
      ++calls;
      for (int i = 0; i < degree; ++i)
        for (int k = 0; k < bytes; ++k) send[(size_t)i * (size_t)bytes + (size_t)k] = value(calls, rank, peers[i], k);
      memset(receive, POISON, all);
      MPI_Neighbor_alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, graph);
      for (int i = 0; i < degree; ++i)
        for (int k = 0; k < bytes; ++k)
          wrong += receive[(size_t)i * (size_t)bytes + (size_t)k] != value(calls, peers[i], rank, k);
      if (rank == 0 && counter && *counter > before) printf(" %d", calls);
    }
    free(send), free(receive);
  }
  if (rank == 0) printf("\n");
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) puts(wrong ? "neighbour_sizes: wrong" : "neighbour_sizes: right");
  MPI_Comm_free(&graph);
  MPI_Finalize();
  return wrong != 0;
}
