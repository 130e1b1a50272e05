#define _POSIX_C_SOURCE 200809L
#include "samples.h"

#include <stdlib.h>
#include <time.h>

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void meet(const World *world) {
  if (world->meeting) limits_barrier(world->meeting);
  else MPI_Barrier(MPI_COMM_WORLD);
}

static Sample over_ranks(const World *world, double mine) {
  const double both[2] = {mine, -mine};
  double most[2], sum;
  MPI_Allreduce(both, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (Sample){most[0], -most[1], sum / world->ranks};
}

Sample sample(const World *world, Candidates *all, int candidate, const Cell *cell, int calls, bool touch) {
  double seconds = 0;
  candidates_select(all, candidate, cell);
  if (touch) {
    for (int i = 0; i < calls; ++i) {
      cell_touch(cell, i);
      meet(world);
      const double begin = now();
      candidates_call(all, candidate, cell);
      seconds += now() - begin;
    }
  } else {
    meet(world);
    const double begin = now();
    for (int i = 0; i < calls; ++i) candidates_call(all, candidate, cell);
    seconds = now() - begin;
  }
  return over_ranks(world, seconds / calls);
}

static int in_order(const void *a, const void *b) {
  const double first = *(const double *)a, second = *(const double *)b;
  return (first > second) - (first < second);
}

/* Batches grow until one takes some milliseconds and calls get no faster by it: where ranks share cores, whoever waits
 * may do so until a time slice ends, once or twice a batch, and short batches would tell of that alone. */
double estimate(const World *world, Candidates *all, int candidate, const Cell *cell, bool touch) {
  const double target = 2e-3, enough = 0.05;
  double seconds = sample(world, all, candidate, cell, 1, touch).longest;
  for (int calls = 4; seconds * calls < 4 * enough && calls <= 1 << 20; calls *= 4) {
    const double before = seconds;
    seconds = sample(world, all, candidate, cell, calls, touch).longest;
    if (seconds * calls > target && seconds > 0.7 * before) break;
  }
  return seconds;
}

double barrier_seconds(const World *world, int many) {
  double times[MOST_BARRIERS];
  for (int i = -1; i < many; ++i) { /* the first is not timed */
    const double begin = now();
    meet(world);
    if (i >= 0) times[i] = now() - begin;
  }
  qsort(times, (size_t)many, sizeof times[0], in_order);
  const double mine = times[(9 * many - 1) / 10];
  return over_ranks(world, mine).longest;
}
