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
  const Exchange* exchange;
  Group group;
  bool sends;
  Layout* layouts;                /* one; or one a peer, where types differ by peer */
  MPI_Aint *count, *displacement; /* one a peer, in items; Alltoallw's displacements in bytes */
  MPI_Aint low, high;             /* lowest byte of data and one past the highest, from the buffer's origin */

  bool guarded; /* the allocation lies between pages that cannot be touched (guarded.h) */
  unsigned char* allocation;
  unsigned char* origin;   /* what MPI is given; lies outside the data where displacements are all negative */
  unsigned char* expected; /* what the allocation must hold after the call */
  MPI_Aint bytes;          /* of the allocation, guards included */
} Side;

/** @return bytes of the smallest block that both ends can hold; 0 for empty types. */
MPI_Aint unit_bytes(const Exchange* exchange);

/** The type of a peer's block; and where that lies, in bytes from the origin. */
const Layout* side_layout(const Side* side, int peer);
MPI_Aint side_offset(const Side* side, int peer);

void side_open(Side* side, const Exchange* exchange, Group group, bool sends);
void side_close(Side* side);

/** @return whether MPI agrees with our account of all types. */
bool side_agrees_with_mpi(const Side* side);

/** Make room for the buffer, elsewhere in each run; and free it. */
void side_allocate(Side* side, int run);
void side_free(Side* side);

/** Background everywhere; data where this side sends, or where in_place makes it do so. */
void side_fill(Side* side, int run, bool with_data);

/** State what a receive buffer must hold after the call. */
void side_expect_received(Side* side, int run);

/** Compare the buffer with what is expected, report the first difference. */
void side_check(const Side* side, Suite* suite, int run);

#endif
