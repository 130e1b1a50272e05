/* Direct exchanges, written by hand: beside.h says what is measured, benchmarks/beside makes the table.
 *
 *   direct_loop spread-out|pairwise MAX_BYTES ROUNDS SPEC... */
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
  if (argc < 5 || (!is_pairwise && strcmp(argv[1], "spread-out") != 0)) {
    if (x.rank == 0) fprintf(stderr, "usage: %s spread-out|pairwise MAX_BYTES ROUNDS SPEC...\n", argv[0]);
    return beside_end(2);
  }
  x.loop = is_pairwise ? pairwise : spread_out;
  x.own = malloc(2 * (size_t)x.ranks * sizeof(MPI_Request));
  const int status = beside_measure(&x, atoi(argv[2]), atoi(argv[3]), argv + 4, argc - 4);
  free(x.own);
  return beside_end(status);
}
