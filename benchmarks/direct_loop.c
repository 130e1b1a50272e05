/* Direct exchanges, written by hand: beside.h says what is measured, benchmarks/beside makes the table.
 *
 *   direct_loop spread-out|pairwise [MAX_BYTES [SAMPLES]]
 *
 * Run it with libswapmeet.so preloaded and SWAPMEET_ALGORITHM set to the same algorithm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"

static void copy_own_block(const Exchange *x) {
  memcpy(x->receive + (size_t)x->rank * x->bytes, x->send + (size_t)x->rank * x->bytes, x->bytes);
}

static void spread_out(const Exchange *x) {
  MPI_Request *requests = x->own;
  int n = 0;
  for (int i = 1; i < x->ranks; ++i) {
    const int from = (x->rank - i + x->ranks) % x->ranks;
    MPI_Irecv(x->receive + (size_t)from * x->bytes, x->bytes, MPI_CHAR, from, 1, x->comm, &requests[n++]);
  }
  for (int i = 1; i < x->ranks; ++i) {
    const int to = (x->rank + i) % x->ranks;
    MPI_Isend(x->send + (size_t)to * x->bytes, x->bytes, MPI_CHAR, to, 1, x->comm, &requests[n++]);
  }
  copy_own_block(x);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void pairwise(const Exchange *x) {
  for (int i = 1; i < x->ranks; ++i) {
    const int to = (x->rank + i) % x->ranks, from = (x->rank - i + x->ranks) % x->ranks;
    MPI_Sendrecv(x->send + (size_t)to * x->bytes, x->bytes, MPI_CHAR, to, 1, x->receive + (size_t)from * x->bytes,
                 x->bytes, MPI_CHAR, from, 1, x->comm, MPI_STATUS_IGNORE);
  }
  copy_own_block(x);
}

int main(int argc, char **argv) {
  Exchange x;
  beside_begin(&x, &argc, &argv);
  const int is_pairwise = argc > 1 && strcmp(argv[1], "pairwise") == 0;
  if (argc < 2 || (!is_pairwise && strcmp(argv[1], "spread-out") != 0)) {
    if (x.rank == 0) fprintf(stderr, "usage: %s spread-out|pairwise [MAX_BYTES [SAMPLES]]\n", argv[0]);
    return beside_end(&x, 2);
  }
  x.loop = is_pairwise ? pairwise : spread_out;
  x.own = malloc(2 * (size_t)x.ranks * sizeof(MPI_Request));
  beside_measure(&x, argc > 2 ? atoi(argv[2]) : 1 << 20, argc > 3 ? atoi(argv[3]) : 50);
  free(x.own);
  return beside_end(&x, 0);
}
