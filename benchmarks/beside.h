/* MPI_Alltoall by specs of the preloaded library, beside a hand-written loop of MPI calls, in one run: what the programs
 * share. */
#ifndef BESIDE_H
#define BESIDE_H

#include <mpi.h>

typedef struct Exchange {
  int ranks, rank, bytes; /* of a block */
  char *send, *receive;   /* `ranks` blocks each */
  MPI_Comm comm;          /* each candidate has one, as applications have */
  void (*loop)(const struct Exchange*);
  void* own; /* what the loop needs besides */
} Exchange;

/* Initialises MPI and fills in `ranks` and `rank`. */
void beside_begin(Exchange* x, int* argc, char*** argv);

/* Measures x->loop and `specs` with blocks of 8, 64, 512, ... up to `most` bytes, after checking once for each size that
 * all deliver the same. Collective; needs libswapmeet.so preloaded. In each of `rounds` rounds every candidate takes a
 * sample, in random order: the mean time of a batch of calls. Rank 0 prints a line for each sample: block bytes, "loop"
 * or the spec, calls in the batch, and the longest, the shortest and the mean time over ranks, microseconds a call.
 * Returns 0, or 2 with a message if a spec cannot be set. */
int beside_measure(Exchange* x, int most, int rounds, char* const* specs, int count);

/* Finalises. Returns `status`. */
int beside_end(int status);

#endif
