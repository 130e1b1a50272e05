/* What single messages and copies cost: what `swapmeet calibrate` makes a machine's description of. Each gives the
 * whole answer to its command. */
#ifndef MEASURE_PARTS_H
#define MEASURE_PARTS_H

#include "measure.h"

/* Pairs of ranks exchange `window` messages of `bytes` bytes at once, each way: the first `pairs` pairs of each node,
 * or, if `between`, of ranks of two nodes. Answers seconds of an exchange, and those in which a rank begins a message
 * and awaits one, before it waits; of the slowest rank. Collective. */
void answer_messages(const World* world, bool between, int pairs, int bytes, int window, int calls);

/* All ranks gather `pieces` pieces of `bytes` bytes that lie apart, by memcpy or by MPI_Pack. Answers seconds.
 * Collective. */
void answer_copies(const World* world, bool datatype, int pieces, int bytes, int calls);

#endif
