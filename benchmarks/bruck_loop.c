/* Bruck's algorithm in radix r without a final rotation, written by hand as the papers `radix` and `nonuniform` do:
 * beside.h says what is measured, benchmarks/beside makes the table.
 *
 *   bruck_loop RADIX MAX_BYTES ROUNDS SPEC... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"

typedef struct {
  int radix;
  char *outgoing, *incoming; /* `ranks` blocks each: a message at a time */
} Own;

/* The block that has `offset` to go in all: receive[rank - offset], from the beginning to the end. */
static char *home(const Exchange *x, int offset) {
  return x->receive + (size_t)((x->rank - offset + x->ranks) % x->ranks) * x->bytes;
}

static void bruck(const Exchange *x) {
  const Own *own = x->own;
  const int p = x->ranks, r = own->radix;
  const size_t bytes = x->bytes;
  for (int i = 0; i < p; ++i) memcpy(home(x, i), x->send + (size_t)((x->rank + i) % p) * bytes, bytes);
  for (int weight = 1; weight < p; weight *= r)
    for (int z = 1; z < r && z * weight < p; ++z) {
      const int to = (x->rank + z * weight) % p, from = (x->rank - z * weight + p) % p;
      int n = 0;
      for (int i = z * weight; i < p; i += r * weight)
        for (int j = i; j < i + weight && j < p; ++j) memcpy(own->outgoing + n++ * bytes, home(x, j), bytes);
      MPI_Sendrecv(own->outgoing, (int)(n * bytes), MPI_CHAR, to, 1, own->incoming, (int)(n * bytes), MPI_CHAR, from, 1,
                   x->comm, MPI_STATUS_IGNORE);
      n = 0;
      for (int i = z * weight; i < p; i += r * weight)
        for (int j = i; j < i + weight && j < p; ++j) memcpy(home(x, j), own->incoming + n++ * bytes, bytes);
    }
}

int main(int argc, char **argv) {
  Exchange x;
  beside_begin(&x, &argc, &argv);
  Own own = {.radix = argc > 1 ? atoi(argv[1]) : 0};
  if (argc < 5 || own.radix < 2) {
    if (x.rank == 0) fprintf(stderr, "usage: %s RADIX MAX_BYTES ROUNDS SPEC...\n", argv[0]);
    return beside_end(2);
  }
  const int most = atoi(argv[2]);
  own.outgoing = malloc((size_t)x.ranks * most);
  own.incoming = malloc((size_t)x.ranks * most);
  x.loop = bruck;
  x.own = &own;
  const int status = beside_measure(&x, most, atoi(argv[3]), argv + 4, argc - 4);
  free(own.incoming);
  free(own.outgoing);
  return beside_end(status);
}
