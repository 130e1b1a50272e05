/* All-to-alls timed as OSU's micro-benchmarks and IMB-MPI1 time them by default, and printed in their forms.
 *
 *   users osu|imb MOST CALLS COLLECTIVE...
 *
 * COLLECTIVE is Alltoall or Alltoallv (of equal counts, as both have it), or Ialltoall or Ialltoallv, started and waited
 * for (what IMB-NBC calls pure). Sizes are bytes for each destination, in
 * powers of two up to MOST; all of them in one process, the smallest first. No size gets more than CALLS calls.
 *
 *   osu   MPI_COMM_WORLD; from 1 B; 1000 calls after 100 that do not count, from 16 KiB on 100 after 10
 *   imb   a communicator split from it; from 0 B; 1000 calls, fewer where they would exceed 40 MiB for a destination,
 *         after a tenth as many that do not count (IMB besides tries up to as many to estimate the time of a call)
 *
 * Each call is timed by itself, with a barrier behind it that is not; what is printed is the mean over the calls, of
 * which the mean, the least and the greatest over the ranks.
 *
 * The program knows nothing of the library. It reports whether the process holds it, for a comparison relies on that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { FEWER_ABOVE = 8192, VOLUME = 40 << 20, LARGEST = 16 << 20 };

typedef struct Method {
  const char *name;
  int split;               /* whether its communicator is not MPI_COMM_WORLD */
  int first;               /* bytes of the smallest block */
  int (*calls)(int bytes); /* that count */
  const char *title;       /* of a table; %s: the collective */
  void (*print)(int bytes, int calls, double mean, double least, double greatest);
} Method;

typedef struct Run {
  int ranks, rank;
  MPI_Comm comm;
  char *send, *receive;
  int *counts, *offsets; /* of Alltoallv */
} Run;

typedef struct Collective {
  const char *name;
  void (*call)(const Run *run, int bytes);
} Collective;

static int osu_calls(int bytes) { return bytes > FEWER_ABOVE ? 100 : 1000; }

static int imb_calls(int bytes) {
  const int within = bytes > 0 ? VOLUME / bytes : 1000;
  return within < 1 ? 1 : within > 1000 ? 1000 : within;
}

static void alltoall(const Run *run, int bytes) {
  MPI_Alltoall(run->send, bytes, MPI_CHAR, run->receive, bytes, MPI_CHAR, run->comm);
}

static void alltoallv(const Run *run, int bytes) {
  (void)bytes;
  MPI_Alltoallv(run->send, run->counts, run->offsets, MPI_CHAR, run->receive, run->counts, run->offsets, MPI_CHAR,
                run->comm);
}

static void ialltoall(const Run *run, int bytes) {
  MPI_Request request;
  MPI_Ialltoall(run->send, bytes, MPI_CHAR, run->receive, bytes, MPI_CHAR, run->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ialltoallv(const Run *run, int bytes) {
  (void)bytes;
  MPI_Request request;
  MPI_Ialltoallv(run->send, run->counts, run->offsets, MPI_CHAR, run->receive, run->counts, run->offsets, MPI_CHAR,
                 run->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const Collective collectives[] = {
    {"Alltoall", alltoall}, {"Alltoallv", alltoallv}, {"Ialltoall", ialltoall}, {"Ialltoallv", ialltoallv}};

static void osu_print(int bytes, int calls, double mean, double least, double greatest) {
  printf("%-10d %18.3f %18.3f %18.3f %12d\n", bytes, mean, least, greatest, calls);
}

static void imb_print(int bytes, int calls, double mean, double least, double greatest) {
  printf("%13d %13d %12.3f %12.3f %12.3f\n", bytes, calls, least, greatest, mean);
}

static const Method methods[] = {
    {"osu", 0, 1, osu_calls,
     "# MPI_%s, timed as OSU's\n# Size      Avg Latency(us)    Min Latency(us)    Max Latency(us)   Iterations\n",
     osu_print},
    {"imb", 1, 0, imb_calls, "# Benchmarking %s\n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n",
     imb_print}};

static void fail(const char *what) {
  fprintf(stderr, "users: %s\nusage: users osu|imb MOST CALLS Alltoall|Alltoallv|Ialltoall|Ialltoallv...\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Microseconds a call on this rank; the mean. */
static double timed(const Run *run, const Collective *collective, int bytes, int warm, int calls) {
  double seconds = 0;
  for (int i = -warm; i < calls; ++i) {
    const double begin = MPI_Wtime();
    collective->call(run, bytes);
    const double end = MPI_Wtime();
    if (i >= 0) seconds += end - begin;
    MPI_Barrier(run->comm);
  }
  return 1e6 * seconds / calls;
}

/* Of every block, which holds its source's mark throughout. */
static void check(const Run *run, int bytes) {
  for (int source = 0; source < run->ranks; ++source)
    for (int i = 0; i < bytes; ++i)
      if (run->receive[(size_t)source * bytes + i] != (char)(source + 1)) fail("WRONG data were delivered");
}

static void measure_sizes(const Run *run, const Method *method, const Collective *collective, int most, int limit) {
  if (run->rank == 0) printf(method->title, collective->name);
  for (int bytes = method->first; bytes <= most; bytes = bytes ? 2 * bytes : 1) {
    const int calls = method->calls(bytes) < limit ? method->calls(bytes) : limit;
    for (int r = 0; r < run->ranks; ++r) run->counts[r] = bytes, run->offsets[r] = r * bytes;
    memset(run->receive, 0, (size_t)run->ranks * bytes);
    MPI_Barrier(run->comm);
    const double mine = timed(run, collective, bytes, (calls + 9) / 10, calls);
    check(run, bytes);
    double sum = 0, least = 0, greatest = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, run->comm);
    MPI_Reduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, 0, run->comm);
    MPI_Reduce(&mine, &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, run->comm);
    if (run->rank == 0) method->print(bytes, calls, sum / run->ranks, least, greatest), fflush(stdout);
  }
}

static const Method *method_named(const char *name) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i)
    if (strcmp(methods[i].name, name) == 0) return &methods[i];
  fail("the first argument is neither osu nor imb");
  return NULL;
}

static const Collective *collective_named(const char *name) {
  for (size_t i = 0; i < sizeof collectives / sizeof *collectives; ++i)
    if (strcmp(collectives[i].name, name) == 0) return &collectives[i];
  fail("a collective is none of Alltoall, Alltoallv, Ialltoall and Ialltoallv");
  return NULL;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) fail("too few arguments");
  const Method *method = method_named(argv[1]);
  const int most = atoi(argv[2]), limit = atoi(argv[3]);
  if (most < 1 || most > LARGEST || limit < 1) fail("MOST is 1 to 16777216, CALLS is at least 1");
  Run run;
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  run.comm = MPI_COMM_WORLD;
  if (method->split) MPI_Comm_split(MPI_COMM_WORLD, 0, run.rank, &run.comm);
  run.send = malloc((size_t)run.ranks * most);
  run.receive = malloc((size_t)run.ranks * most);
  run.counts = malloc((size_t)run.ranks * sizeof *run.counts);
  run.offsets = malloc((size_t)run.ranks * sizeof *run.offsets);
  if (!run.send || !run.receive || !run.counts || !run.offsets) fail("out of memory");
  memset(run.send, run.rank + 1, (size_t)run.ranks * most);
  report_library();
  for (int i = 4; i < argc; ++i) measure_sizes(&run, method, collective_named(argv[i]), most, limit);
  free(run.send), free(run.receive), free(run.counts), free(run.offsets);
  if (method->split) MPI_Comm_free(&run.comm);
  MPI_Finalize();
  return 0;
}
