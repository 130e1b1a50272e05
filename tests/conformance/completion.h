/* Completing what is under way, in an order and by functions that a seed draws: each rank its own. */
#ifndef CONFORMANCE_COMPLETION_H
#define CONFORMANCE_COMPLETION_H

#include "operation.h"

/** The user's own message to the next rank, among the operations, as persistent requests. */
typedef struct {
  unsigned char sent[64], received[64];
  int source;
  MPI_Request requests[2];
  bool under_way[2];
} Ring;

/** @param comm  an intracommunicator of more than one rank; else, or if it is MPI_COMM_NULL, there is no message. */
void ring_open(Ring* ring, MPI_Comm comm);
void ring_prepare(Ring* ring);
void ring_check(const Ring* ring, Suite* suite);
void ring_close(Ring* ring);

/** Start persistent operations and the ring by one MPI_Startall. */
void start_together(Operation operations[], int number, Ring* ring, Suite* suite);

void complete(Operation operations[], int number, Ring* ring, Suite* suite, uint64_t seed);

#endif
