/* The functions under test: every form of every collective, called with the same arguments. */
#ifndef CONFORMANCE_CALLS_H
#define CONFORMANCE_CALLS_H

#include "arguments.h"
#include "plans.h"

/* All return what the function called returns. */
int call_blocking(Collective collective, const Arguments* send, const Arguments* recv, MPI_Comm comm);
int call_nonblocking(Collective collective, const Arguments* send, const Arguments* recv, MPI_Comm comm,
                     MPI_Request* request);
int call_persistent(Collective collective, const Arguments* send, const Arguments* recv, MPI_Comm comm,
                    MPI_Request* request);
int call_plan(Collective collective, const Arguments* send, const Arguments* recv, MPI_Comm comm, const char* spec,
              swapmeet_plan** plan);

#endif
