/* Exchanges of which every byte is checked, and the guards around them, for programs about ranks that share a node. */
#ifndef NODE_BLOCKS_H
#define NODE_BLOCKS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, POISON = 0x5a };

static inline unsigned char block_byte(int source, int destination, int call, size_t index) {
  return (unsigned char)(7 * source + 31 * destination + 101 * call + index + (index >> 8) * 13 + (index >> 16));
}

static inline void must(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "node: wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* The bytes of a block: the same of all, or (vector) another for each pair, some of them none. */
static inline int block_bytes(int vector, int source, int destination, int call, int most) {
  if (!vector) return most;
  const int part = (source * 5 + destination * 3 + call) % 4;
  return part == 0 ? 0 : (int)((long long)most * part / 3) + (source + destination) % 3;
}

/* One MPI_Alltoall, or MPI_Alltoallv; returns how many of its blocks are wrong. MPI errors are in *error. */
static inline int exchanged(MPI_Comm comm, int call, int most, int vector, int* error) {
  int rank, ranks, wrong = 0, sent = 0, received = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int *counts = malloc(4 * (size_t)ranks * sizeof *counts), *places = counts + ranks;
  int *expected = places + ranks, *homes = expected + ranks;
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = block_bytes(vector, rank, peer, call, most), places[peer] = sent;
    expected[peer] = block_bytes(vector, peer, rank, call, most), homes[peer] = received;
    sent += counts[peer], received += expected[peer];
  }
  unsigned char *out = malloc((size_t)sent + 1), *memory = malloc((size_t)received + 2 * GUARD), *in = memory + GUARD;
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < counts[peer]; ++k) out[places[peer] + k] = block_byte(rank, peer, call, (size_t)k);
  memset(memory, POISON, (size_t)received + 2 * GUARD);
  if (vector) *error = MPI_Alltoallv(out, counts, places, MPI_BYTE, in, expected, homes, MPI_BYTE, comm);
  else *error = MPI_Alltoall(out, most, MPI_BYTE, in, most, MPI_BYTE, comm);
  memset(out, 0xee, (size_t)sent); /* it is ours again: nobody may read it now */
  for (int peer = 0; peer < ranks; ++peer) {
    int same = 1;
    for (int k = 0; k < expected[peer]; ++k) same &= in[homes[peer] + k] == block_byte(peer, rank, call, (size_t)k);
    wrong += !same;
  }
  for (int k = 0; k < GUARD; ++k) wrong += memory[k] != POISON || in[received + k] != POISON;
  free(counts), free(out), free(memory);
  return wrong;
}

static inline void exchange(MPI_Comm comm, int call, int most, int vector) {
  int error;
  must(exchanged(comm, call, most, vector, &error) == 0 && error == MPI_SUCCESS,
       vector ? "data of MPI_Alltoallv" : "data of MPI_Alltoall");
}

/* Sizes that take one cell, several, more than a channel has, and a single copy. */
static inline int mixed_bytes(int call) {
  static const int sizes[] = {1, 8, 48, 49, 1000, 4096, 16432, 16433, 70000, 300001};
  return sizes[call % 10];
}

#endif
