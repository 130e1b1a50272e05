/* One MPI_Alltoallv on the first P ranks, for each P, with blocks of a workload's sizes (tools/workload/workload.h): so
 * that what the library counts can be compared with what the model counts. Every byte is checked.
 *
 *   workload TEXT SEED P... */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "workload/workload.h"

static unsigned char value(int source, int destination, int index) {
  return (unsigned char)(31 * source + 7 * destination + index + 1);
}

static void exchange(const Workload *workload, uint64_t seed, MPI_Comm comm) {
  int ranks, rank, sent = 0, received = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  int *counts = malloc(4 * (size_t)ranks * sizeof *counts), *places = counts + ranks;
  int *expected = places + ranks, *landings = expected + ranks;
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = (int)workload_bytes(workload, seed, ranks, rank, peer);
    expected[peer] = (int)workload_bytes(workload, seed, ranks, peer, rank);
    places[peer] = sent, landings[peer] = received;
    sent += counts[peer], received += expected[peer];
  }
  unsigned char *send = malloc((size_t)sent + 1), *receive = calloc((size_t)received + 1, 1);
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < counts[peer]; ++k) send[places[peer] + k] = value(rank, peer, k);
  MPI_Alltoallv(send, counts, places, MPI_BYTE, receive, expected, landings, MPI_BYTE, comm);
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < expected[peer]; ++k)
      if (receive[landings[peer] + k] != value(peer, rank, k)) {
        fprintf(stderr, "workload: rank %d of %d: byte %d from rank %d is wrong\n", rank, ranks, k, peer);
        MPI_Abort(MPI_COMM_WORLD, 3);
      }
  free(counts), free(send), free(receive);
}

int main(int argc, char **argv) {
  Workload workload;
  char message[400];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4 || !workload_parse(argv[1], &workload, message, sizeof message)) {
    fprintf(stderr, "workload: %s\n", argc < 4 ? "expected a workload, a seed and numbers of ranks" : message);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 3; i < argc; ++i) {
    MPI_Comm first;
    MPI_Comm_split(MPI_COMM_WORLD, rank < atoi(argv[i]) ? 0 : MPI_UNDEFINED, rank, &first);
    if (first == MPI_COMM_NULL) continue;
    exchange(&workload, strtoull(argv[2], NULL, 10), first);
    MPI_Comm_free(&first);
  }
  MPI_Finalize();
  return 0;
}
