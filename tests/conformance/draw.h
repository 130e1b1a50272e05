/* Seeded random numbers and exchanges. All ranks draw the same. */
#ifndef CONFORMANCE_DRAW_H
#define CONFORMANCE_DRAW_H

#include "exchange.h"

typedef struct {
  uint64_t seed, drawn;
} Random;

/** @return 0 to limit - 1 */
int draw_below(Random *random, int limit);

/** Any exchange, for any communicator. Its form may not suit there: see exchange_unsuitable(). */
Exchange draw_exchange(Random *random);

/** Draw until it suits the MPI and the communicator. */
Exchange draw_exchange_for(Random *random, MPI_Comm comm);

#endif
