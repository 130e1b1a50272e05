/* One exchange, whose time SimGrid simulates: python/swapmeet/simulate/job.py launches it, with libswapmeet.so
 * preloaded or without. All ranks live in one process, hence no global variables.
 *
 *   simulated COLLECTIVE SIZES SEED DATATYPE CALLS JITTER    as measure.c's "call", how many calls are timed, and
 *                                                            microseconds
 *
 * The first call makes plans; its data are looked at, every byte. Then all begin at the same instant, for simulated
 * clocks agree, or each so much later at most, at random. Times are from that instant on.
 * Rank 0 prints what measure.c does: "sample LONGEST SHORTEST MEAN" for each timed call, then "ok"; or "refused WHY",
 * or "wrong WHY". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/cell.h"
#include "measure/memory.h"

static void call(const Cell *cell) {
  if (cell->vector)
    MPI_Alltoallv(cell->send, cell->send_counts, cell->send_places, cell->type, cell->receive, cell->receive_counts,
                  cell->receive_places, cell->type, MPI_COMM_WORLD);
  else
    MPI_Alltoall(cell->send, cell->send_counts[0], cell->type, cell->receive, cell->receive_counts[0], cell->type,
                 MPI_COMM_WORLD);
}

/* 0 to 1: another for each rank and call, the same in every simulation (SplitMix64's finaliser). */
static double random_part(int rank, int call) {
  uint64_t x = ((uint64_t)call << 32 | (uint32_t)rank) + UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

static void sleep_until(double instant) {
  const double left = instant - MPI_Wtime();
  smpi_nanosleep(&(struct timespec){.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * (left - (double)(time_t)left))},
                 NULL);
}

/* All ranks leave at the same simulated instant, which is returned, or so many seconds later. */
static double meet_at_once(double later) {
  double now = MPI_Wtime(), begin;
  MPI_Allreduce(&now, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  begin += 1; /* the allreduce itself takes less */
  sleep_until(begin);
  const double left_at = MPI_Wtime();
  if (later > 0) sleep_until(left_at + later);
  return left_at;
}

static void time_calls(const World *world, const Cell *cell, int calls, double jitter_s) {
  for (int i = 0; i < calls; ++i) {
    const double begin = meet_at_once(jitter_s * random_part(world->rank, i));
    call(cell);
    const double mine = MPI_Wtime() - begin, both[2] = {mine, -mine};
    double most[2], sum;
    MPI_Reduce(both, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world->rank == 0) answer(world, "sample %.9e %.9e %.9e", most[0], -most[1], sum / world->ranks);
  }
}

/* The automatic choice leaves early calls to the host MPI, unless it is told that many will follow. */
static void expect_many_calls(void) {
  const char *const algorithm = getenv("SWAPMEET_ALGORITHM");
  int (*set)(MPI_Comm, const char *) = dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  if (set && (!algorithm || strcmp(algorithm, "auto") == 0)) set(MPI_COMM_WORLD, "auto");
}

int main(int argc, char **argv) {
  World world = {0};
  char why[400] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  world.node = MPI_COMM_WORLD; /* whose memory they share in truth */
  Cell *const cell = argc == 7 ? cell_make(&world, argv[1], argv[2], argv[3], argv[4], why, sizeof why) : NULL;
  if (!cell) {
    answer(&world, "refused %s", argc == 7 ? why : "expected COLLECTIVE SIZES SEED DATATYPE CALLS JITTER");
  } else {
    expect_many_calls();
    call(cell);
    const bool right = cell_verify(cell, why, sizeof why);
    if (agreed(&world, right, why, sizeof why)) {
      time_calls(&world, cell, atoi(argv[5]), 1e-6 * atof(argv[6]));
      answer(&world, "ok");
    } else {
      answer(&world, "wrong %s", why);
    }
    cell_free(cell);
  }
  MPI_Finalize();
  return 0;
}
