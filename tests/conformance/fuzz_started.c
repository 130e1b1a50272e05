/* Exchanges that stay under way while the program does other things, and their requests, which each rank frees at
 * another time. */
#include "completion.h"
#include "fuzz.h"
#include "oracle.h"

bool start_on(Program *program, int slot, const Exchange *exchange) {
  int place = 0;
  while (place < STARTED && program->started[place].used) ++place;
  if (place == STARTED) return false;
  Started *const one = &program->started[place];
  Operation *const operation = &program->operations[place];
  const MPI_Comm comm = program->slots[slot].comm;
  *one = (Started){.used = true, .here = comm != MPI_COMM_NULL, .slot = slot};
  one->persistent = exchange->form == PERSISTENT;
  if (!one->here) return true;
  operation_open(operation, program->suite, exchange, comm);
  operation_prepare(operation, 0);
  operation_start(operation, program->suite);
  ++program->all_to_alls;
  return true;
}

void start_exchange(Program *program) {
  char name[200];
  const int slot = draw_slot(program, false);
  const bool inter = program->slots[slot].inter, persistent = draw_below(&program->random, 2) == 0;
  Exchange exchange = draw_exchange(&program->random, inter);
  exchange.form = exchange_started_form(persistent, inter);
  step_is(program, "start/slot=%d/%s", slot, exchange_name(&exchange, name, sizeof name));
  if (!start_on(program, slot, &exchange)) finish_exchanges(program);
}

static void leave_request(Program *program, int slot, MPI_Request *request) {
  int place = 0;
  while (place < REQUESTS && program->unfreed[place].request != MPI_REQUEST_NULL) ++place;
  if (place == REQUESTS) {
    place = drawn_by_rank(program, program->suite->rank, REQUESTS);
    MPI_Request_free(&program->unfreed[place].request);
  }
  program->unfreed[place] = (Unfreed){slot, *request};
  *request = MPI_REQUEST_NULL;
}

void free_some_request(Program *program) {
  const int place = drawn_by_rank(program, program->suite->rank, 4 * REQUESTS);
  if (place < REQUESTS && program->unfreed[place].request != MPI_REQUEST_NULL)
    MPI_Request_free(&program->unfreed[place].request);
}

void free_requests(Program *program, int slot) {
  for (int k = 0; k < REQUESTS; ++k)
    if (program->unfreed[k].request != MPI_REQUEST_NULL && (slot < 0 || program->unfreed[k].slot == slot))
      MPI_Request_free(&program->unfreed[k].request);
}

/* What is over: persistent ones may start again. */
static void go_on(Program *program, int place, bool again) {
  Started *const one = &program->started[place];
  Operation *const operation = &program->operations[place];
  const int run = one->run++;
  one->used = one->persistent && again && run < EXCHANGE_RUNS;
  if (!one->here) return;
  operation_check(operation, program->suite, run);
  if (one->used) {
    operation_prepare(operation, one->run);
    operation_start(operation, program->suite);
    ++program->all_to_alls;
  } else {
    if (one->persistent) leave_request(program, one->slot, &operation->request);
    operation_close(operation, program->suite);
  }
}

static void finish(Program *program, int first, int number, bool again) {
  Ring none;
  ring_open(&none, MPI_COMM_NULL);
  const uint64_t seed = program->random.seed + program->random.drawn + (uint64_t)program->suite->rank;
  complete(&program->operations[first], number, &none, program->suite, oracle_mix(seed));
  for (int k = first; k < first + number; ++k)
    if (program->started[k].used) go_on(program, k, again);
}

void finish_exchanges(Program *program) {
  const int which = draw_below(&program->random, STARTED + 1);
  step_is(program, "finish=%d", which);
  if (which < STARTED) finish(program, which, 1, true);
  else finish(program, 0, STARTED, true);
}

void end_exchanges(Program *program, int slot, bool nonblocking_too) {
  for (int k = 0; k < STARTED; ++k) {
    Started *const one = &program->started[k];
    if (!one->used || (slot >= 0 && one->slot != slot)) continue;
    if (nonblocking_too || one->persistent) finish(program, k, 1, false);
    else one->slot = -1;
  }
}
