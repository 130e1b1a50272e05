#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "table.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 5 };

static int is_first(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

void *room(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 4096, bytes ? bytes : 1) != 0) {
    fprintf(stderr, "out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return memset(memory, 0, bytes);
}

int calls_within(double volume, double bytes, int most) {
  const double calls = bytes * FEWEST > volume ? FEWEST : volume / bytes;
  return calls < most ? (int)calls : most;
}

void title(const char *name) {
  if (is_first())
    printf("\n# Benchmarking %s\n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n", name);
}

void measure(int bytes, int calls, int warm, Call *before, Call *call, void *what) {
  double us = 0, sum = 0, least = 0, greatest = 0;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < warm + calls; ++turn) {
    if (before) before(what, turn), MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    call(what, turn);
    if (turn >= warm) us += MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  us *= 1e6 / calls;
  MPI_Reduce(&us, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&us, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&us, &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (is_first())
    printf("%13d %13d %12.3f %12.3f %12.3f\n", bytes, calls, least, greatest, sum / ranks), fflush(stdout);
}

void report_library(void) {
  if (is_first()) printf("# Swapmeet: %s\n", dlsym(RTLD_DEFAULT, "swapmeet_version") ? "yes" : "no");
}
