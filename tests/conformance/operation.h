/* One exchange from its buffers to their check: blocking, or under way between its start and its completion. */
#ifndef CONFORMANCE_OPERATION_H
#define CONFORMANCE_OPERATION_H

#include "arguments.h"
#include "plans.h"

typedef struct {
  Exchange exchange; /* stays where it is, for the sides refer to it */
  MPI_Comm comm;
  Side send, recv;
  Arguments from, to;
  MPI_Request request; /* NONBLOCKING and PERSISTENT */
  swapmeet_plan* plan; /* PLAN */
  bool under_way;
} Operation;

void operation_open(Operation* operation, Suite* suite, const Exchange* exchange, MPI_Comm comm);

/** Fresh data; and, where arguments do not last for all runs, new ones. */
void operation_prepare(Operation* operation, int run);

/** Start it; or, blocking, do it. Persistent requests may be left to MPI_Startall: then set under_way instead. */
void operation_start(Operation* operation, Suite* suite);

/** What follows once it is no longer under way: look at every byte. */
void operation_check(Operation* operation, Suite* suite, int run);

void operation_close(Operation* operation, Suite* suite);

/** Fail if `code` is not MPI_SUCCESS. */
void expect_success(Suite* suite, int code, const char* what);

#endif
