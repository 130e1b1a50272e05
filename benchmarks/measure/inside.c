#define _GNU_SOURCE
#include "inside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "samples.h"

enum { MOST_PHASES = 64 };

/* A line of each rank's seconds, which go to rank 0. */
static void answer_phase(const World *world, const char *name, double mine) {
  double *const every = malloc((size_t)world->ranks * sizeof *every);
  MPI_Gather(&mine, 1, MPI_DOUBLE, every, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (world->rank == 0) {
    char *const text = malloc((size_t)world->ranks * 32 + 1), *end = text;
    *text = '\0';
    for (int i = 0; i < world->ranks; ++i) end += sprintf(end, " %.9e", every[i]);
    answer(world, "phase %s%s", name, text);
    free(text);
  }
  free(every);
}

static double batch(const World *world, Candidates *all, int candidate, const Cell *cell, int calls) {
  meet(world);
  const double begin = now();
  for (int i = 0; i < calls; ++i) candidates_call(all, candidate, cell);
  return now() - begin;
}

void answer_phases(const World *world, Candidates *all, int candidate, const Cell *cell, int calls) {
  if (candidates_is_native(all, candidate)) {
    candidates_select(all, candidate, cell);
    answer_phase(world, "native", batch(world, all, candidate, cell, calls) / calls);
    answer(world, "ok");
    return;
  }
  int (*begin)(MPI_Comm), (*end)(MPI_Comm, double *);
  const char *(*name)(int);
  *(void **)&begin = dlsym(RTLD_DEFAULT, "swapmeet_phases_begin");
  *(void **)&end = dlsym(RTLD_DEFAULT, "swapmeet_phases_end");
  *(void **)&name = dlsym(RTLD_DEFAULT, "swapmeet_phase_name");
  if (!begin || !end || !name) return answer(world, "unknown libswapmeet.so has no phases");
  const MPI_Comm comm = candidates_comm(all, candidate);
  double seconds[MOST_PHASES] = {0};
  candidates_select(all, candidate, cell);
  char why[TEXT] = "swapmeet_phases_begin failed";
  if (!agreed(world, begin(comm) == MPI_SUCCESS, why, sizeof why)) {
    end(comm, seconds);
    return answer(world, "refused %s", why);
  }
  batch(world, all, candidate, cell, calls);
  snprintf(why, sizeof why, "swapmeet_phases_end failed");
  if (!agreed(world, end(comm, seconds) == MPI_SUCCESS, why, sizeof why)) return answer(world, "refused %s", why);
  for (int i = 0; i < MOST_PHASES && name(i); ++i) answer_phase(world, name(i), seconds[i] / calls);
  answer(world, "ok");
}

void answer_trace(const World *world, Candidates *all, int candidate, const Cell *cell, const char *file) {
  int (*trace)(MPI_Comm, const char *);
  *(void **)&trace = dlsym(RTLD_DEFAULT, "swapmeet_trace");
  if (candidates_is_native(all, candidate)) return answer(world, "unknown the host MPI cannot be traced");
  if (!trace) return answer(world, "unknown libswapmeet.so has no traces");
  candidates_select(all, candidate, cell);
  char why[TEXT];
  snprintf(why, sizeof why, "swapmeet_trace failed for %.200s", file);
  if (!agreed(world, trace(candidates_comm(all, candidate), file) == MPI_SUCCESS, why, sizeof why))
    return answer(world, "refused %s", why);
  batch(world, all, candidate, cell, 1);
  answer(world, "ok");
}

/* Calls that fill some milliseconds, `most` at most. */
static int enough(double seconds, int most) {
  return seconds > 5e-3 ? 1 : seconds < 5e-3 / most ? most : (int)(5e-3 / seconds);
}

static double least_of_three(double a, double b, double c) {
  const double least = a < b ? a : b;
  return c < least ? c : least;
}

void answer_limits(const World *world, const Cell *cell) {
  const size_t block = cell_mean_block(cell), bytes = (size_t)world->ranks * block;
  char why[TEXT] = "";
  if (world->ranks < 2) return answer(world, "refused one rank exchanges nothing");
  if (!world->meeting) return answer(world, "refused the ranks are not all on one node, or cannot share memory");
  if (!agreed(world, memory_suffices(world, 3 * (int64_t)bytes, why, sizeof why), why, sizeof why))
    return answer(world, "refused %s", why);
  char *const send = malloc(bytes + 1), *const receive = malloc(bytes + 1);
  if (send) memset(send, 1, bytes); /* pages that were never written are all one */
  Limits *const l = limits_begin(MPI_COMM_WORLD, block ? block : 1, why, sizeof why);
  if (!agreed(world, l && send && receive, why, sizeof why)) {
    answer(world, "refused %s", why[0] ? why : "there is too little memory");
  } else {
    double copy[3], shared[3], flag[3];
    copy[0] = limits_copy(l, receive, send, block, 3); /* touches all pages */
    shared[0] = limits_copy_shared(l, receive, block, 3);
    flag[0] = limits_flag(l, 100);
    for (int i = 1; i < 3; ++i) {
      copy[i] = limits_copy(l, receive, send, block, enough(copy[0], 1000));
      /* Its barriers are not timed, and take longer where ranks share cores. */
      shared[i] = limits_copy_shared(l, receive, block, enough(shared[0], 100));
      flag[i] = limits_flag(l, 1000);
    }
    answer(world, "limit memcpy %.9e", least_of_three(copy[0], copy[1], copy[2]));
    answer(world, "limit memcpy-shared %.9e", least_of_three(shared[0], shared[1], shared[2]));
    answer(world, "limit flag %.9e", least_of_three(flag[0], flag[1], flag[2]));
    answer(world, "ok");
  }
  if (l) limits_end(l);
  free(receive);
  free(send);
}
