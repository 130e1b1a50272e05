/* The life of an operation. Buffers, arguments and requests last for all runs where the form reuses them. */
#include "operation.h"

#include <string.h>

#include "calls.h"

static bool lasts(const Exchange *exchange) { return exchange->form == PERSISTENT || exchange->form == PLAN; }

void expect_success(Suite *suite, int code, const char *what) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  suite_fail(suite, "%s returned %d: %s", what, code, text);
}

static Group group_of(MPI_Comm comm) {
  enum { SECOND_GROUP = 1000000 }; /* ids of the group with the odd world ranks, on an intercommunicator */
  Group group = {0, 0, 0};
  int is_inter, world_rank;
  MPI_Comm_test_inter(comm, &is_inter);
  MPI_Comm_rank(comm, &group.me);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (!is_inter) {
    MPI_Comm_size(comm, &group.peers);
  } else {
    MPI_Comm_remote_size(comm, &group.peers);
    if (world_rank % 2 == 1) group.me += SECOND_GROUP;
    else group.first_peer = SECOND_GROUP;
  }
  return group;
}

static void open_arguments(Operation *operation, int run) {
  const bool passing = operation->exchange.form != BLOCKING;
  operation->from =
      operation->exchange.in_place ? arguments_in_place(run) : arguments_open(&operation->send, run, passing);
  operation->to = arguments_open(&operation->recv, run, passing);
}

static void allocate(Operation *operation, int run) {
  if (!operation->exchange.in_place) side_allocate(&operation->send, run);
  side_allocate(&operation->recv, run);
}

static void plan(Operation *operation, Suite *suite) {
  const Exchange *exchange = &operation->exchange;
  const Arguments *from = &operation->from, *to = &operation->to;
  int code = MPI_ERR_ARG;
  if (exchange->spec)
    code = call_plan(exchange->collective, from, to, operation->comm, exchange->spec, &operation->plan);
  if (code == MPI_ERR_ARG) code = call_plan(exchange->collective, from, to, operation->comm, NULL, &operation->plan);
  expect_success(suite, code, "making the plan");
  arguments_check(from, suite);
  arguments_check(to, suite);
  arguments_overwrite(&operation->from);
  arguments_overwrite(&operation->to);
}

static void free_types(Operation *operation) {
  arguments_free_types(&operation->from);
  arguments_free_types(&operation->to);
}

/* What the MPI can do. Open MPI's Alltoallw on one rank takes displacements for extents: none, then; and non-blocking
 * and in place (where it is not ours) it takes no part on a rank without data, and later ones wait for ever: some data
 * everywhere. Its persistent ones of unequal blocks in place send data that they have received; they are its own where
 * its progress is locked: not in place, then. */
static Exchange as_possible(const Exchange *wanted, Group group) {
  Exchange exchange = *wanted;
#ifdef OPEN_MPI
  int threads = MPI_THREAD_SINGLE;
  MPI_Query_thread(&threads);
  if (threads == MPI_THREAD_MULTIPLE && exchange.form == PERSISTENT && is_vector(exchange.collective))
    exchange.in_place = false;
  if (!has_types(exchange.collective)) return exchange;
  if (exchange.form == BLOCKING && group.peers == 1 && group.first_peer == group.me) {
    exchange.types_by_peer = false;
    exchange.send_placement = exchange.recv_placement = DENSE;
  }
  if ((exchange.form == NONBLOCKING || exchange.form == PERSISTENT) && exchange.in_place) {
    if (exchange.pattern != UNIFORM) exchange.pattern = SKEWED;
    exchange.workload = NULL;
  }
#else
  (void)group;
#endif
  return exchange;
}

void operation_open(Operation *operation, Suite *suite, const Exchange *wanted, MPI_Comm comm) {
  const Group group = group_of(comm);
  memset(operation, 0, sizeof *operation);
  operation->exchange = as_possible(wanted, group);
  operation->comm = comm;
  operation->request = MPI_REQUEST_NULL;
  const Exchange *exchange = &operation->exchange;
  side_open(&operation->send, exchange, group, true);
  side_open(&operation->recv, exchange, group, false);
  if (!side_agrees_with_mpi(&operation->send) || !side_agrees_with_mpi(&operation->recv))
    suite_fail(suite, "the suite's account of a type is not MPI's");
  if (!lasts(exchange)) return;
  allocate(operation, 0);
  open_arguments(operation, (int)(exchange->seed % 2));
  if (exchange->form == PLAN) plan(operation, suite);
  else
    expect_success(suite,
                   call_persistent(exchange->collective, &operation->from, &operation->to, comm, &operation->request),
                   "MPI_Alltoall*_init");
  free_types(operation);
}

void operation_prepare(Operation *operation, int run) {
  const bool in_place = operation->exchange.in_place;
  if (!lasts(&operation->exchange)) allocate(operation, run);
  if (!in_place) side_fill(&operation->send, run, true);
  side_fill(&operation->recv, run, in_place);
  side_expect_received(&operation->recv, run);
  if (!lasts(&operation->exchange)) open_arguments(operation, run);
}

void operation_start(Operation *operation, Suite *suite) {
  const Exchange *exchange = &operation->exchange;
  const Arguments *from = &operation->from, *to = &operation->to;
  int code = MPI_ERR_ARG;
  suite_come_late(suite, SELDOM);
  switch (exchange->form) {
    case NONBLOCKING:
      code = call_nonblocking(exchange->collective, from, to, operation->comm, &operation->request);
      free_types(operation);
      break;
    case PERSISTENT: code = MPI_Start(&operation->request); break;
    case PLAN: code = operation->plan ? plans()->start(operation->plan) : MPI_ERR_ARG; break;
    default: code = call_blocking(exchange->collective, from, to, operation->comm);
  }
  expect_success(suite, code, exchange->form == BLOCKING ? "the call" : "starting");
  operation->under_way = exchange->form != BLOCKING && code == MPI_SUCCESS;
}

void operation_check(Operation *operation, Suite *suite, int run) {
  arguments_check(&operation->from, suite);
  arguments_check(&operation->to, suite);
  side_check(&operation->recv, suite, run);
  if (!operation->exchange.in_place) side_check(&operation->send, suite, run);
  if (lasts(&operation->exchange)) return;
  arguments_close(&operation->from);
  arguments_close(&operation->to);
}

void operation_close(Operation *operation, Suite *suite) {
  if (operation->request != MPI_REQUEST_NULL) MPI_Request_free(&operation->request);
  if (operation->plan) expect_success(suite, plans()->free(&operation->plan), "freeing the plan");
  if (lasts(&operation->exchange)) {
    arguments_close(&operation->from);
    arguments_close(&operation->to);
  }
  side_close(&operation->send);
  side_close(&operation->recv);
}
