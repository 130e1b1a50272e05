#include "overlap.h"

#include "samples.h"

enum { PURE, COMPUTING, OVERLAPPED, START, TESTING, WAIT, TIMES };

/* Work that neither the memory nor the compiler can shorten: each step takes the result of the one before. */
static double computed(long long steps) {
  volatile double kept = 0;
  double x = 1.5;
  for (long long i = 0; i < steps; ++i) x = x * 0.999999 + 1e-6;
  return kept = x;
}

/* Steps that take so many seconds on this rank, while the others compute as well. */
static long long steps_of(const World *world, double seconds) {
  long long steps = 1000;
  double took = 0;
  while (took < 1e-3) {
    steps *= 2;
    meet(world);
    const double begin = now();
    computed(steps);
    took = now() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  }
  const double wanted = (double)steps * seconds / took;
  return wanted < 1 ? 1 : (long long)wanted;
}

/* One exchange with computing in it; adds its times. */
static void exchange(Candidates *all, int candidate, const Cell *cell, long long steps, int tests, double *times) {
  MPI_Request request;
  const double begin = now();
  candidates_start(all, candidate, cell, &request);
  const double started = now();
  double testing = 0;
  for (int i = 0; i < tests; ++i) {
    int done;
    computed(steps / (tests + 1));
    const double before = now();
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    testing += now() - before;
  }
  computed(steps / (tests + 1));
  const double waiting = now();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const double end = now();
  times[OVERLAPPED] += end - begin;
  times[START] += started - begin;
  times[TESTING] += testing;
  times[WAIT] += end - waiting;
}

void answer_overlap(const World *world, Candidates *all, int candidate, const Cell *cell, int calls, int tests) {
  double times[TIMES] = {0}, sums[TIMES];
  for (int i = -2; i < calls;
       ++i) { /* two are not timed: what serves the first may be ready after the next blocking call */
    double alone[TIMES] = {0};
    if (i < 0) candidates_select(all, candidate, cell);
    meet(world);
    exchange(all, candidate, cell, 0, 0, alone);
    if (i >= 0) times[PURE] += alone[OVERLAPPED] / calls;
  }
  double pure = times[PURE];
  MPI_Allreduce(MPI_IN_PLACE, &pure, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const long long steps = steps_of(world, pure);
  for (int i = 0; i < calls; ++i) {
    meet(world);
    const double begin = now();
    for (int part = 0; part <= tests; ++part) computed(steps / (tests + 1));
    times[COMPUTING] += now() - begin;
  }
  for (int i = 0; i < calls; ++i) {
    meet(world);
    exchange(all, candidate, cell, steps, tests, times);
  }
  for (int i = COMPUTING; i < TIMES; ++i) times[i] /= calls;
  MPI_Reduce(times, sums, TIMES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; world->rank == 0 && i < TIMES; ++i) sums[i] /= world->ranks;
  answer(world, "overlap %.9e %.9e %.9e %.9e %.9e %.9e", sums[PURE], sums[COMPUTING], sums[OVERLAPPED], sums[START],
         sums[TESTING], sums[WAIT]);
  answer(world, "ok");
}
