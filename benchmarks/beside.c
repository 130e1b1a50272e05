#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "beside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name;
  void (*exchange)(const Exchange *);
  MPI_Comm comm;
} Candidate;

static void preloaded(const Exchange *x) {
  MPI_Alltoall(x->send, x->bytes, MPI_CHAR, x->receive, x->bytes, MPI_CHAR, x->comm);
}

static void call(const Candidate *candidate, Exchange *x) {
  x->comm = candidate->comm;
  candidate->exchange(x);
}

static char expected(int source, int destination, int byte) { return (char)(31 * source + 7 * destination + byte); }

static void check(const Candidate *candidate, Exchange *x) {
  const size_t size = (size_t)x->ranks * x->bytes;
  for (size_t i = 0; i < size; ++i) x->send[i] = expected(x->rank, (int)(i / x->bytes), (int)(i % x->bytes));
  memset(x->receive, 0x55, size);
  call(candidate, x);
  for (size_t i = 0; i < size; ++i)
    if (x->receive[i] != expected((int)(i / x->bytes), x->rank, (int)(i % x->bytes))) {
      fprintf(stderr, "%s delivers wrong data: rank %d of %d, blocks of %d bytes, byte %zu\n", candidate->name, x->rank,
              x->ranks, x->bytes, i);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

typedef struct {
  double longest, shortest, mean; /* over ranks, seconds a call */
} Sample;

static Sample sample(const Candidate *candidate, Exchange *x, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call(candidate, x);
  const double mine = (MPI_Wtime() - begin) / calls;
  double ends[2] = {mine, -mine}, sum = 0;
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (Sample){ends[0], -ends[1], sum / x->ranks};
}

/* Calls in a batch that takes long against the clock and the barrier, if a call takes so many seconds. */
static int batch(double seconds) {
  const double target = 5e-4;
  return seconds >= target ? 1 : (int)(target / seconds) + 1;
}

/* Pseudo-random numbers below `limit`, the same on every rank; `seed` is their state. */
static int below(int limit, unsigned *seed) {
  *seed = *seed * 1103515245u + 12345u;
  return (int)((*seed >> 16) % (unsigned)limit);
}

static void measure_size(Candidate *candidates, int count, Exchange *x, int rounds, unsigned *seed) {
  double fastest = 1e9;
  for (int k = 0; k < count; ++k) {
    check(&candidates[k], x);
    sample(&candidates[k], x, 5);
    const double warm = sample(&candidates[k], x, 5).longest;
    if (warm < fastest) fastest = warm;
  }
  const int calls = batch(fastest);
  for (int round = 0; round < rounds; ++round)
    for (int left = count; left > 0; --left) { /* each once: the one taken changes places with the last of the others */
      const int k = below(left, seed);
      const Candidate taken = candidates[k];
      candidates[k] = candidates[left - 1];
      candidates[left - 1] = taken;
      const Sample s = sample(&taken, x, calls);
      if (x->rank == 0)
        printf("%d %s %d %.4f %.4f %.4f\n", x->bytes, taken.name, calls, 1e6 * s.longest, 1e6 * s.shortest,
               1e6 * s.mean);
    }
}

void beside_begin(Exchange *x, int *argc, char ***argv) {
  memset(x, 0, sizeof *x);
  MPI_Init(argc, argv);
  MPI_Comm_size(MPI_COMM_WORLD, &x->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &x->rank);
}

/* Whether all communicators follow their specs. */
static int set(const Candidate *candidates, int count, int rank) {
  int (*algorithm)(MPI_Comm, const char *) = NULL;
  *(void **)&algorithm = dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  for (int k = 1; k < count; ++k)
    if (!algorithm || algorithm(candidates[k].comm, candidates[k].name) != MPI_SUCCESS) {
      if (rank == 0)
        fprintf(stderr, "%s: %s\n", candidates[k].name, algorithm ? "cannot be set" : "preload libswapmeet.so");
      return 0;
    }
  return 1;
}

int beside_measure(Exchange *x, int most, int rounds, char *const *specs, int count) {
  const int all = count + 1;
  Candidate *candidates = malloc((size_t)all * sizeof *candidates);
  for (int k = 0; k < all; ++k) {
    candidates[k] =
        k ? (Candidate){specs[k - 1], preloaded, MPI_COMM_NULL} : (Candidate){"loop", x->loop, MPI_COMM_NULL};
    MPI_Comm_dup(MPI_COMM_WORLD, &candidates[k].comm);
  }
  const int usable = set(candidates, all, x->rank);
  x->send = malloc((size_t)x->ranks * most);
  x->receive = malloc((size_t)x->ranks * most);
  unsigned seed = 1;
  for (x->bytes = most < 8 ? most : 8; usable; x->bytes = x->bytes > most / 8 ? most : 8 * x->bytes) {
    measure_size(candidates, all, x, rounds, &seed);
    if (x->bytes == most) break;
  }
  free(x->receive);
  free(x->send);
  for (int k = 0; k < all; ++k) MPI_Comm_free(&candidates[k].comm);
  free(candidates);
  return usable ? 0 : 2;
}

int beside_end(int status) {
  MPI_Finalize();
  return status;
}
