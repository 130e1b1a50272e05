/* One side (send or receive) of an exchange on one rank: counts, displacements, type and buffer. */
#ifndef CONFORMANCE_SIDE_H
#define CONFORMANCE_SIDE_H

#include "exchange.h"

/** Who takes part, as the description needs it. On an intercommunicator the ids of the two groups differ. */
typedef struct {
  int me;         /* my id */
  int peers;      /* ranks I send to */
  int first_peer; /* the id of peer 0 */
} Group;

typedef struct {
  const Exchange *exchange;
  Group group;
  bool sends;
  Layout layout;
  MPI_Aint *count, *displacement; /* one a peer, in items */
  MPI_Aint low, high;             /* lowest byte of data and one past the highest, from the buffer's origin */

  unsigned char *allocation;
  unsigned char *origin;    /* what MPI is given; lies outside the data where displacements are all negative */
  unsigned char *expected;  /* what the allocation must hold after the call */
  MPI_Aint bytes;           /* of the allocation, guards included */
} Side;

/** @return bytes of the smallest block that both ends can hold; 0 for empty types. */
MPI_Aint unit_bytes(const Exchange *exchange);

void side_open(Side *side, const Exchange *exchange, Group group, bool sends);
void side_close(Side *side);

/** Lay out a fresh buffer: background everywhere; data where this side sends, or where in_place makes it do so. */
void side_fill(Side *side, int run, bool with_data);

/** State what a receive buffer must hold after the call. */
void side_expect_received(Side *side, int run);

/** Compare the buffer with what is expected, report the first difference. */
void side_check(const Side *side, Suite *suite, int run);

#endif
