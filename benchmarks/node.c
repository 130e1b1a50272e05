/* MPI_Alltoall or MPI_Alltoallv of equal blocks inside a node, in one run: the MPI underneath, called past Swapmeet; any
 * algorithms; and what no exchange can beat (limits.h). benchmarks/node.py makes the tables.
 *
 *   node [--touch] [--pin] alltoall|alltoallv SAMPLES BLOCK[,BLOCK...] SPEC...
 *
 * Run it with libswapmeet.so preloaded, on 2 ranks or more. Each spec has a communicator of its own. For each block size
 * (bytes), every candidate is checked once, byte by byte; then samples of all come in random order. A sample is the mean of
 * a batch of calls, the maximum over ranks. With --touch every rank rewrites its send buffer before each call and all meet
 * in a barrier; only the call is timed. With --pin rank i runs on core i only, in turn. Rank 0 prints a line for each sample: block, candidate, microseconds a call; the
 * candidates are mpi, the specs, memcpy, memcpy-shared and flag. Lines with # say how it was run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "limits.h"

typedef int Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
typedef int Alltoallv(const void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
                      MPI_Comm);

typedef struct {
  int ranks, rank, block;
  bool touch, pin, vector;
  int *counts, *places; /* in bytes, both ways */
  char *send, *receive;
  Limits *limits; /* NULL if there are none */
} Run;

typedef struct Candidate {
  const char *name;
  double (*sample)(const struct Candidate *, int calls);
  const Run *run;
  Alltoall *alltoall;
  Alltoallv *alltoallv;
  MPI_Comm comm; /* MPI_COMM_NULL: a limit */
  int calls;     /* in a batch */
} Candidate;

static void stop(const char *what, const char *which) {
  fprintf(stderr, "node: %s %s\n", what, which);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange(const void *candidate) {
  const Candidate *c = candidate;
  const Run *r = c->run;
  if (r->vector) {
    c->alltoallv(r->send, r->counts, r->places, MPI_BYTE, r->receive, r->counts, r->places, MPI_BYTE, c->comm);
  } else {
    c->alltoall(r->send, r->block, MPI_BYTE, r->receive, r->block, MPI_BYTE, c->comm);
  }
}

static double sample_untouched(const Candidate *c, int calls) { return beside_sample(exchange, c, calls); }

static double sample_touched(const Candidate *c, int calls) {
  const Run *r = c->run;
  double mine = 0, slowest = 0;
  for (int i = 0; i < calls; ++i) {
    memset(r->send, i, (size_t)r->ranks * (size_t)r->block);
    if (r->limits) {
      limits_barrier(r->limits);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    const double begin = MPI_Wtime();
    exchange(c);
    mine += MPI_Wtime() - begin;
  }
  mine /= calls;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static double sample_memcpy(const Candidate *c, int calls) {
  return limits_copy(c->run->limits, c->run->receive, c->run->send, (size_t)c->run->block, calls);
}

static double sample_memcpy_shared(const Candidate *c, int calls) {
  return limits_copy_shared(c->run->limits, c->run->receive, (size_t)c->run->block, calls);
}

static double sample_flag(const Candidate *c, int calls) { return limits_flag(c->run->limits, calls); }

static char expected(int source, int destination, size_t byte) {
  return (char)(31 * source + 7 * destination + (int)(byte % 251));
}

/* Poison differs from what is expected in every byte. */
static void check(const Candidate *c) {
  const Run *r = c->run;
  const size_t block = (size_t)r->block;
  for (int i = 0; i < r->ranks; ++i)
    for (size_t k = 0; k < block; ++k) {
      r->send[(size_t)i * block + k] = expected(r->rank, i, k);
      r->receive[(size_t)i * block + k] = (char)~expected(i, r->rank, k);
    }
  exchange(c);
  for (int i = 0; i < r->ranks; ++i)
    for (size_t k = 0; k < block; ++k)
      if (r->receive[(size_t)i * block + k] != expected(i, r->rank, k)) stop("wrong data by", c->name);
}

/* Batches last 2 ms and hold 4 calls, to be long against the clock and the barrier, unless that takes above 0.1 s. */
static int batch(double seconds) {
  int calls = 4 * beside_calls(seconds);
  while (calls > 1 && calls * seconds > 0.1) --calls;
  return calls;
}

static void measure(Candidate *candidates, int many, int samples, unsigned *seed) {
  int order[many];
  for (int i = 0; i < many; ++i) {
    Candidate *c = &candidates[i];
    order[i] = i;
    if (c->comm != MPI_COMM_NULL) check(c);
    double seconds = c->sample(c, 3);
    for (int again = 0; again < 4; ++again) { /* the first calls of a size make plans and touch pages */
      const double next = c->sample(c, batch(seconds > 1e-8 ? seconds : 1e-8) / 4 + 1);
      if (next < seconds) seconds = next;
    }
    c->calls = batch(seconds > 1e-8 ? seconds : 1e-8);
  }
  for (int s = 0; s < samples; ++s) {
    for (int i = many - 1; i > 0; --i) {
      const int other = (int)(beside_random(seed) % (unsigned)(i + 1)), kept = order[i];
      order[i] = order[other];
      order[other] = kept;
    }
    for (int i = 0; i < many; ++i) {
      const Candidate *c = &candidates[order[i]];
      const double seconds = c->sample(c, c->calls);
      if (c->run->rank == 0) printf("%d %s %.5f\n", c->run->block, c->name, 1e6 * seconds);
    }
  }
  if (candidates->run->rank == 0) fflush(stdout);
}

/* The MPI's own function: libswapmeet.so, which is asked first, defines the same names. */
static void *underneath(const char *name) {
  Dl_info where;
  int (*not_ours)(int *, int *) = MPI_Get_version;
  if (!dladdr(*(void **)&not_ours, &where)) stop("no library holds", "MPI_Get_version");
  void *mpi = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void *found = mpi ? dlsym(mpi, name) : NULL;
  if (!found || found == dlsym(RTLD_DEFAULT, name)) stop("libswapmeet.so is not preloaded, or the MPI has no", name);
  return found;
}

static int prepare(Candidate *candidates, const Run *run, int specs, char **spec) {
  int (*set_algorithm)(MPI_Comm, const char *);
  *(void **)&set_algorithm = dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  if (!set_algorithm) stop("libswapmeet.so is not preloaded", "");
  const Candidate ours = {.run = run,
                          .sample = run->touch ? sample_touched : sample_untouched,
                          .alltoall = MPI_Alltoall,
                          .alltoallv = MPI_Alltoallv};
  int many = 0;
  for (int i = -1; i < specs; ++i, ++many) {
    Candidate *c = &candidates[many];
    *c = ours;
    c->name = i < 0 ? "mpi" : spec[i];
    MPI_Comm_dup(MPI_COMM_WORLD, &c->comm);
    if (i >= 0 && set_algorithm(c->comm, c->name) != MPI_SUCCESS) stop("not a spec:", c->name);
  }
  *(void **)&candidates[0].alltoall = underneath("PMPI_Alltoall");
  *(void **)&candidates[0].alltoallv = underneath("PMPI_Alltoallv");
  if (!run->limits) return many;
  static const Candidate limits[3] = {{.name = "memcpy", .sample = sample_memcpy},
                                      {.name = "memcpy-shared", .sample = sample_memcpy_shared},
                                      {.name = "flag", .sample = sample_flag}};
  for (int i = 0; i < 3; ++i, ++many) {
    candidates[many] = limits[i];
    candidates[many].run = run;
    candidates[many].comm = MPI_COMM_NULL;
  }
  return many;
}

/* The next number of `list`, which moves on; 0 at the end. */
static int next_block(char **list) {
  char *rest;
  if (!**list) return 0;
  const long block = strtol(*list, &rest, 10);
  if (rest == *list || block < 1 || block > 1 << 28 || (*rest && *rest != ',')) stop("not sizes of blocks in bytes:", *list);
  *list = *rest ? rest + 1 : rest;
  return (int)block;
}

static void describe(const Run *r, const char *why) {
  const int cores = limits_cores(MPI_COMM_WORLD, false);
  if (r->rank != 0) return;
  printf("# %d ranks on %d cores, %s; send buffers are %s\n", r->ranks, cores,
         r->pin ? "each pinned to one" : "placed by the MPI and the kernel",
         r->touch ? "rewritten before every call" : "never rewritten");
  if (!r->limits) printf("# no limits are measured: %s\n", why);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Run run = {0};
  char **word = argv + 1;
  for (; *word && !strncmp(*word, "--", 2); ++word) {
    if (!strcmp(*word, "--touch")) run.touch = true;
    else if (!strcmp(*word, "--pin")) run.pin = true;
    else stop("unknown option", *word);
  }
  const int specs = (int)(argv + argc - word) - 3;
  if (specs < 0) stop("usage: node [--touch] [--pin] alltoall|alltoallv SAMPLES BLOCK[,BLOCK...] SPEC...", "");
  run.vector = !strcmp(word[0], "alltoallv");
  if (!run.vector && strcmp(word[0], "alltoall")) stop("neither alltoall nor alltoallv:", word[0]);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  if (run.ranks < 2) stop("takes 2 ranks or more", "");
  int most = 0;
  char *list = word[2];
  for (int block; (block = next_block(&list));) most = block > most ? block : most;
  if ((double)most * run.ranks > 1 << 30) stop("a rank would exchange more than 1 GiB", "");
  run.send = malloc((size_t)run.ranks * (size_t)most);
  run.receive = malloc((size_t)run.ranks * (size_t)most);
  run.counts = malloc((size_t)run.ranks * sizeof(int));
  run.places = malloc((size_t)run.ranks * sizeof(int));
  if (run.pin) limits_cores(MPI_COMM_WORLD, true);
  char why[200] = "";
  run.limits = limits_begin(MPI_COMM_WORLD, (size_t)most, why, sizeof why);
  describe(&run, why);
  Candidate *candidates = calloc((size_t)specs + 4, sizeof *candidates);
  const int many = prepare(candidates, &run, specs, word + 3);
  unsigned seed = 1;
  list = word[2];
  while ((run.block = next_block(&list))) {
    for (int i = 0; i < run.ranks; ++i) run.places[i] = i * (run.counts[i] = run.block);
    measure(candidates, many, atoi(word[1]), &seed);
  }
  for (int i = 0; i < many; ++i)
    if (candidates[i].comm != MPI_COMM_NULL) MPI_Comm_free(&candidates[i].comm);
  if (run.limits) limits_end(run.limits);
  MPI_Finalize();
  return 0;
}
