/* MPI_Alltoall, as preloaded, beside a hand-written loop of MPI calls, in one run: what the programs share. */
#ifndef BESIDE_H
#define BESIDE_H

#include <mpi.h>

typedef struct Exchange {
  int ranks, rank, bytes; /* of a block */
  char *send, *receive;   /* `ranks` blocks each */
  MPI_Comm comm;          /* of the loop: an application's traffic would be on its own communicator too */
  void (*loop)(const struct Exchange*);
  void* own; /* what the loop needs besides */
} Exchange;

/* Initialises MPI and fills in `ranks`, `rank` and `comm`. */
void beside_begin(Exchange* x, int* argc, char*** argv);

/* Measures blocks of 8, 64, 512, ... up to `most` bytes, after checking once for each size that both candidates deliver
 * the same. Samples of the two alternate in random order; a sample is the mean time of a batch of calls, the maximum
 * over ranks. Rank 0 prints a line for each sample: block bytes, candidate, microseconds a call. */
void beside_measure(Exchange* x, int most, int samples);

/* Seconds that one call of `candidate` takes: the mean of a batch of `calls`, the maximum over ranks. Collective. */
double beside_sample(void (*candidate)(const void*), const void* own, int calls);

/* Calls in a batch that takes long against the clock and the barrier, if a call takes so many seconds. */
int beside_calls(double seconds);

/* Pseudo-random numbers, the same on every rank; `seed` is their state. */
unsigned beside_random(unsigned* seed);

/* Frees and finalises. Returns `status`. */
int beside_end(Exchange* x, int status);

#endif
