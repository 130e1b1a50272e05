/* The communicators that cases run on: different sizes, groups and rank orders. */
#ifndef CONFORMANCE_COMMUNICATORS_H
#define CONFORMANCE_COMMUNICATORS_H

#include <mpi.h>

typedef enum { WORLD, DUPLICATE, PARITY, REVERSED, SHUFFLED, RING, SELF, COMMUNICATORS } Communicator;

void communicators_open(void);
void communicators_close(void);

MPI_Comm communicator(Communicator which);
const char* communicator_name(Communicator which);

#endif
