/* Seeded random numbers and exchanges. All ranks draw the same. */
#ifndef CONFORMANCE_DRAW_H
#define CONFORMANCE_DRAW_H

#include "exchange.h"

typedef struct {
  uint64_t seed, drawn;
} Random;

/** @return 0 to limit - 1 */
int draw_below(Random* random, int limit);

/** An exchange that this MPI can do on an intercommunicator, or on another one. */
Exchange draw_exchange(Random* random, bool inter);

#endif
