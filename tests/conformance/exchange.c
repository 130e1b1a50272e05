/* Names of exchanges, and running them. */
#include "exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "completion.h"
#include "oracle.h"

bool has_types(Collective collective) {
#if MPI_VERSION >= 4
  if (collective == ALLTOALLW_C) return true;
#endif
  return collective == ALLTOALLW;
}

bool is_vector(Collective collective) {
#if MPI_VERSION >= 4
  if (collective == ALLTOALL_C) return false;
#endif
  return collective != ALLTOALL;
}

bool is_large_count(Collective collective) { return collective > ALLTOALLW; }

const char *collective_name(Collective collective) {
  static const char *const names[] = {"alltoall", "alltoallv", "alltoallw", "alltoall_c", "alltoallv_c", "alltoallw_c"};
  return names[collective];
}

const char *exchange_name(const Exchange *exchange, char *name, size_t bytes) {
  static const char *const patterns[PATTERNS] = {"",        "/zero",   "/zero-pairs", "/zero-ranks",
                                                 "/skewed", "/sparse", "/varied"};
  static const char *const placements[PLACEMENTS] = {"dense",      "gaps",       "backwards",  "mixed-order",
                                                     "below-zero", "same-block", "overlapping"};
  static const char *const forms[FORMS] = {"", "/nonblocking", "/persistent", "/plan"};
  const bool placed = exchange->send_placement != DENSE || exchange->recv_placement != DENSE;
  char size[120];
  if (exchange->workload) workload_print(exchange->workload, size, sizeof size);
  else snprintf(size, sizeof size, "%ldB", (long)exchange->block_bytes);
  snprintf(name, bytes, "%s/%s/%s-to-%s/%s%s%s%s%s%s%s%s%s%s%s%s%s", collective_name(exchange->collective),
           family_name(exchange->send), exchange->in_place ? "in-place" : shape_name(exchange->send),
           shape_name(exchange->recv), size, patterns[exchange->pattern], placed ? "/" : "",
           placed ? placements[exchange->send_placement] : "", placed ? "-to-" : "",
           placed ? placements[exchange->recv_placement] : "", exchange->bottom ? "/bottom" : "",
           exchange->types_by_rank ? "/types-by-rank" : "", exchange->types_by_peer ? "/types-by-peer" : "",
           exchange->changed_pair ? "/changed-pair" : "", forms[exchange->form], exchange->spec ? "=" : "",
           exchange->spec ? exchange->spec : "");
  return name;
}

/* Open MPI 5.0.11's own non-blocking all-to-alls hang, or deliver wrong data, now and then: some one in 10^5, where few
 * ranks exchange much else on many communicators. They are its own until ranks have met. */
static bool reliable(Form form) {
#ifdef OPEN_MPI
  return form != NONBLOCKING;
#else
  (void)form;
  return true;
#endif
}

/* Open MPI's own persistent all-to-alls use types that the program has freed since. */
Form exchange_started_form(bool persistent, bool inter) {
  if (!persistent && reliable(NONBLOCKING)) return NONBLOCKING;
  const bool by_us = plans()->found && !inter;
  return HAS_PERSISTENT && (by_us || reliable(NONBLOCKING)) ? PERSISTENT : BLOCKING;
}

const char *exchange_unsuitable(const Exchange *exchange, bool inter) {
  if (exchange->form == PERSISTENT && MPI_VERSION < 4) return "this MPI has no persistent collectives";
  if (!reliable(exchange->form)) return "this MPI's own non-blocking all-to-alls fail now and then";
  if (exchange->form == PLAN && !plans()->found) return "no library with plans is loaded";
  if (exchange->form == PLAN && inter) return "plans are for intracommunicators";
  if (exchange->in_place && inter) return "MPI_IN_PLACE is for intracommunicators";
  return NULL;
}

static void start(Operation operations[], int number, Ring *ring, Suite *suite, bool together) {
  for (int k = 0; k < number; ++k)
    if (!together || operations[k].exchange.form != PERSISTENT) operation_start(&operations[k], suite);
  start_together(operations, together ? number : 0, ring, suite);
}

void exchange_run_several(Suite *suite, const Exchange exchanges[], const MPI_Comm comms[], int number, MPI_Comm user) {
  Operation *operations = malloc((size_t)number * sizeof *operations);
  const uint64_t seed = oracle_mix(exchanges[0].seed + (uint64_t)suite->rank);
  Ring ring;
  ring_open(&ring, user);
  for (int k = 0; k < number; ++k) operation_open(&operations[k], suite, &exchanges[k], comms[k]);
  for (int run = 0; run < EXCHANGE_RUNS; ++run) {
    for (int k = 0; k < number; ++k) operation_prepare(&operations[k], run);
    ring_prepare(&ring);
    start(operations, number, &ring, suite, run % 2 == 1);
    complete(operations, number, &ring, suite, seed + (uint64_t)run);
    for (int k = 0; k < number; ++k) operation_check(&operations[k], suite, run);
    ring_check(&ring, suite);
  }
  for (int k = 0; k < number; ++k) operation_close(&operations[k], suite);
  ring_close(&ring);
  free(operations);
}

void exchange_run(Suite *suite, const Exchange *exchange, MPI_Comm comm) {
  exchange_run_several(suite, exchange, &comm, 1, MPI_COMM_NULL);
}
