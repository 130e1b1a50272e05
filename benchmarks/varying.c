/* MPI_Alltoallv under several algorithms, in one run. benchmarks/beside.py makes the table.
 *
 *   varying WORKLOAD SAMPLES SPEC...
 *
 * Run it with libswapmeet.so preloaded. Each spec has a communicator of its own. Samples of all specs come in random order;
 * rank 0 prints a line for each: spec, microseconds a call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "workload/workload.h"

enum { SEED = 1 };

typedef struct {
  int ranks, rank;
  int *send_counts, *receive_counts, *send_places, *receive_places; /* in bytes */
  char *send, *receive;
  MPI_Comm comm;
  const char *spec;
} Call;

static void alltoallv(const void *own) {
  const Call *c = own;
  MPI_Alltoallv(c->send, c->send_counts, c->send_places, MPI_BYTE, c->receive, c->receive_counts, c->receive_places,
                MPI_BYTE, c->comm);
}

static char expected(int source, int destination, int byte) { return (char)(31 * source + 7 * destination + byte); }

static void stop(const char *what, const char *which) {
  fprintf(stderr, "varying: %s %s\n", what, which);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Block after block. Returns the bytes of all. */
static size_t lay_out(const int *counts, int *places, int ranks) {
  size_t total = 0;
  for (int i = 0; i < ranks; ++i) {
    places[i] = (int)total;
    total += (size_t)counts[i];
    if (total > 1 << 30) stop("a rank would exchange more than 1 GiB", "");
  }
  return total;
}

static Call prepare(const Workload *workload) {
  Call c = {0};
  MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
  int **const lists[4] = {&c.send_counts, &c.receive_counts, &c.send_places, &c.receive_places};
  for (int i = 0; i < 4; ++i) *lists[i] = malloc((size_t)c.ranks * sizeof(int));
  for (int i = 0; i < c.ranks; ++i) {
    c.send_counts[i] = (int)workload_bytes(workload, SEED, c.ranks, c.rank, i);
    c.receive_counts[i] = (int)workload_bytes(workload, SEED, c.ranks, i, c.rank);
  }
  c.send = malloc(lay_out(c.send_counts, c.send_places, c.ranks) + 1);
  c.receive = malloc(lay_out(c.receive_counts, c.receive_places, c.ranks) + 1);
  for (int i = 0; i < c.ranks; ++i)
    for (int k = 0; k < c.send_counts[i]; ++k) c.send[c.send_places[i] + k] = expected(c.rank, i, k);
  return c;
}

static void check(const Call *c) {
  for (int i = 0; i < c->ranks; ++i) memset(c->receive + c->receive_places[i], 0x55, (size_t)c->receive_counts[i]);
  alltoallv(c);
  for (int i = 0; i < c->ranks; ++i)
    for (int k = 0; k < c->receive_counts[i]; ++k)
      if (c->receive[c->receive_places[i] + k] != expected(i, c->rank, k)) stop("wrong data by", c->spec);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) stop("usage: varying WORKLOAD SAMPLES SPEC...", "");
  Workload workload;
  char message[400];
  if (!workload_parse(argv[1], &workload, message, sizeof message)) stop(message, "");
  if (workload_most_bytes(&workload) > 1 << 30) stop("blocks above 1 GiB in", argv[1]);
  int (*set_algorithm)(MPI_Comm, const char *);
  *(void **)&set_algorithm = dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  if (!set_algorithm) stop("libswapmeet.so is not preloaded", "");
  const int specs = argc - 3;
  Call *calls = malloc((size_t)specs * sizeof *calls);
  const Call call = prepare(&workload);
  double slowest = 0;
  for (int i = 0; i < specs; ++i) {
    calls[i] = call;
    calls[i].spec = argv[3 + i];
    MPI_Comm_dup(MPI_COMM_WORLD, &calls[i].comm);
    if (set_algorithm(calls[i].comm, calls[i].spec) != MPI_SUCCESS) stop("not a spec:", calls[i].spec);
    check(&calls[i]);
    const double seconds = beside_sample(alltoallv, &calls[i], 3);
    if (seconds > slowest) slowest = seconds;
  }
  unsigned seed = SEED;
  for (int s = 0; s < atoi(argv[2]); ++s)
    for (int i = 0, first = (int)(beside_random(&seed) % (unsigned)specs); i < specs; ++i) {
      const Call *one = &calls[(first + i) % specs];
      const double seconds = beside_sample(alltoallv, one, beside_calls(slowest));
      if (call.rank == 0) printf("%s %.4f\n", one->spec, 1e6 * seconds);
    }
  MPI_Finalize();
  return 0;
}
