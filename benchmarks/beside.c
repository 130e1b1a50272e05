#define _POSIX_C_SOURCE 200809L
#include "beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void Candidate(const void *exchange);

static void loop(const void *exchange) {
  const Exchange *x = exchange;
  x->loop(x);
}

static void preloaded(const void *exchange) {
  const Exchange *x = exchange;
  MPI_Alltoall(x->send, x->bytes, MPI_CHAR, x->receive, x->bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static char expected(int source, int destination, int byte) { return (char)(31 * source + 7 * destination + byte); }

static void check(Candidate *candidate, const char *name, const Exchange *x) {
  const size_t size = (size_t)x->ranks * x->bytes;
  for (size_t i = 0; i < size; ++i) x->send[i] = expected(x->rank, (int)(i / x->bytes), (int)(i % x->bytes));
  memset(x->receive, 0x55, size);
  candidate(x);
  for (size_t i = 0; i < size; ++i)
    if (x->receive[i] != expected((int)(i / x->bytes), x->rank, (int)(i % x->bytes))) {
      fprintf(stderr, "%s delivers wrong data: rank %d of %d, blocks of %d bytes, byte %zu\n", name, x->rank, x->ranks,
              x->bytes, i);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

double beside_sample(void (*candidate)(const void *), const void *own, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) candidate(own);
  double mine = (MPI_Wtime() - begin) / calls, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

int beside_calls(double seconds) {
  const double target = 5e-4;
  return seconds >= target ? 1 : (int)(target / seconds) + 1;
}

unsigned beside_random(unsigned *seed) {
  *seed = *seed * 1103515245u + 12345u;
  return *seed >> 16;
}

static void measure_size(const Exchange *x, int samples, unsigned *seed) {
  Candidate *const candidates[2] = {preloaded, loop};
  static const char *const names[2] = {"swapmeet", "loop"};
  for (int k = 0; k < 2; ++k) check(candidates[k], names[k], x);
  double warm = 0;
  for (int i = 0; i < 4; ++i) warm = beside_sample(candidates[i % 2], x, 5);
  const int calls = beside_calls(warm);
  for (int s = 0; s < samples; ++s) {
    const int first = beside_random(seed) & 1;
    for (int k = 0; k < 2; ++k) {
      const double time = beside_sample(candidates[k ^ first], x, calls);
      if (x->rank == 0) printf("%d %s %.4f\n", x->bytes, names[k ^ first], 1e6 * time);
    }
  }
}

void beside_begin(Exchange *x, int *argc, char ***argv) {
  memset(x, 0, sizeof *x);
  MPI_Init(argc, argv);
  MPI_Comm_size(MPI_COMM_WORLD, &x->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &x->rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &x->comm);
}

void beside_measure(Exchange *x, int most, int samples) {
  x->send = malloc((size_t)x->ranks * most);
  x->receive = malloc((size_t)x->ranks * most);
  unsigned seed = 1;
  for (x->bytes = most < 8 ? most : 8;; x->bytes = x->bytes > most / 8 ? most : 8 * x->bytes) {
    measure_size(x, samples, &seed);
    if (x->bytes == most) break;
  }
}

int beside_end(Exchange *x, int status) {
  free(x->receive);
  free(x->send);
  MPI_Comm_free(&x->comm);
  MPI_Finalize();
  return status;
}
