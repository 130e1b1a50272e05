/* MPI_Alltoall, as preloaded, beside a hand-written loop of the same MPI calls, in one run.
 *
 *   direct_loop spread-out|pairwise [MAX_BYTES [SAMPLES]]
 *
 * Run it with libswapmeet.so preloaded and SWAPMEET_ALGORITHM set to the same algorithm. Samples of the two candidates
 * alternate in random order; a sample is the mean time of a batch of calls, the maximum over ranks. Rank 0 prints one line
 * for each sample: block bytes, candidate, microseconds a call. benchmarks/direct_loop.py makes the table. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int ranks, rank, bytes;
  char *send, *receive;
  MPI_Request *requests;
  MPI_Comm comm; /* of the loops: an application's traffic would be on its own communicator too */
} Exchange;

static void copy_own_block(const Exchange *x) {
  memcpy(x->receive + (size_t)x->rank * x->bytes, x->send + (size_t)x->rank * x->bytes, x->bytes);
}

static void spread_out(const Exchange *x) {
  int n = 0;
  for (int i = 1; i < x->ranks; ++i) {
    const int from = (x->rank - i + x->ranks) % x->ranks;
    MPI_Irecv(x->receive + (size_t)from * x->bytes, x->bytes, MPI_CHAR, from, 1, x->comm, &x->requests[n++]);
  }
  for (int i = 1; i < x->ranks; ++i) {
    const int to = (x->rank + i) % x->ranks;
    MPI_Isend(x->send + (size_t)to * x->bytes, x->bytes, MPI_CHAR, to, 1, x->comm, &x->requests[n++]);
  }
  copy_own_block(x);
  MPI_Waitall(n, x->requests, MPI_STATUSES_IGNORE);
}

static void pairwise(const Exchange *x) {
  for (int i = 1; i < x->ranks; ++i) {
    const int to = (x->rank + i) % x->ranks, from = (x->rank - i + x->ranks) % x->ranks;
    MPI_Sendrecv(x->send + (size_t)to * x->bytes, x->bytes, MPI_CHAR, to, 1, x->receive + (size_t)from * x->bytes,
                 x->bytes, MPI_CHAR, from, 1, x->comm, MPI_STATUS_IGNORE);
  }
  copy_own_block(x);
}

static void preloaded(const Exchange *x) {
  MPI_Alltoall(x->send, x->bytes, MPI_CHAR, x->receive, x->bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static double sample(void (*candidate)(const Exchange *), const Exchange *x, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) candidate(x);
  double mine = (MPI_Wtime() - begin) / calls, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

static void measure(const Exchange *x, void (*loop)(const Exchange *), int samples, unsigned *seed) {
  void (*const candidates[2])(const Exchange *) = {preloaded, loop};
  static const char *const names[2] = {"swapmeet", "loop"};
  double warm = 0;
  for (int i = 0; i < 4; ++i) warm = sample(candidates[i % 2], x, 5);
  const double target = 5e-4; /* seconds a batch: long against the clock and the barrier */
  const int calls = warm >= target ? 1 : (int)(target / warm) + 1;
  for (int s = 0; s < samples; ++s) {
    *seed = *seed * 1103515245u + 12345u;
    const int first = *seed >> 16 & 1;
    for (int k = 0; k < 2; ++k) {
      const double time = sample(candidates[k ^ first], x, calls);
      if (x->rank == 0) printf("%d %s %.4f\n", x->bytes, names[k ^ first], 1e6 * time);
    }
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Exchange x = {.comm = MPI_COMM_NULL};
  MPI_Comm_size(MPI_COMM_WORLD, &x.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &x.rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &x.comm);
  const int is_pairwise = argc > 1 && strcmp(argv[1], "pairwise") == 0;
  if (argc < 2 || (!is_pairwise && strcmp(argv[1], "spread-out") != 0)) {
    if (x.rank == 0) fprintf(stderr, "usage: %s spread-out|pairwise [MAX_BYTES [SAMPLES]]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  const int most = argc > 2 ? atoi(argv[2]) : 1 << 20, samples = argc > 3 ? atoi(argv[3]) : 50;
  x.send = malloc((size_t)x.ranks * most);
  x.receive = malloc((size_t)x.ranks * most);
  x.requests = malloc(2 * (size_t)x.ranks * sizeof *x.requests);
  memset(x.send, x.rank, (size_t)x.ranks * most);
  memset(x.receive, 0, (size_t)x.ranks * most);
  unsigned seed = 1;
  for (x.bytes = 8; x.bytes <= most; x.bytes *= 8) measure(&x, is_pairwise ? pairwise : spread_out, samples, &seed);
  free(x.requests);
  free(x.receive);
  free(x.send);
  MPI_Comm_free(&x.comm);
  MPI_Finalize();
  return 0;
}
