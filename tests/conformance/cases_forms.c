/* What is not blocking: each collective in each form, and several under way together. The forms share their arguments
 * with the blocking one, so a few kinds of exchange will do. */
#include "cases.h"
#include "communicators.h"
#include "exchange.h"

static const struct {
  const char *send_type, *recv_type;
  MPI_Aint block_bytes;
  Pattern pattern; /* and placements: of those that have counts for each block */
  Placement send, recv;
  bool in_place, bottom;
  Communicator comm;
} kinds[] = {
    {"int/basic", "int/basic", 64, UNIFORM, DENSE, DENSE, false, false, WORLD},
    {"int/vector", "int/contiguous", 4096, VARIED, GAPS, MIXED_ORDER, false, false, SHUFFLED},
    {"double/basic", "double/negative-offset", 100000, SKEWED, DENSE, BELOW_ZERO, false, false, WORLD},
    {"int/resized", "int/resized", 1000, ZERO_PAIRS, DENSE, GAPS, true, false, PARITY},
    {"int/basic", "int/permuted", 64, VARIED, DENSE, DENSE, false, true, WORLD},
    {"byte/basic", "byte/basic", 8, UNIFORM, DENSE, DENSE, false, false, SELF},
    {"double+int/pair", "double+int/struct-apart", 0, ZERO, GAPS, GAPS, false, false, REVERSED},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static Exchange of_kind(const Suite *suite, size_t kind, Collective collective, Form form) {
  Exchange exchange = {.collective = collective,
                       .form = form,
                       .send = type_find(kinds[kind].send_type),
                       .recv = type_find(kinds[kind].recv_type),
                       .block_bytes = kinds[kind].block_bytes,
                       .in_place = kinds[kind].in_place,
                       .bottom = kinds[kind].bottom,
                       .types_by_peer = has_types(collective) && kind % 2 == 1,
                       .seed = suite->options.seed + kind};
  if (!is_vector(collective)) return exchange;
  exchange.pattern = kinds[kind].pattern;
  exchange.send_placement = kinds[kind].send;
  exchange.recv_placement = kinds[kind].recv;
  return exchange;
}

static void run_or_skip(Suite *suite, const Exchange *exchange, MPI_Comm comm, bool inter) {
  const char *why = exchange_unsuitable(exchange, inter);
  if (why) suite_skip(suite, why);
  else exchange_run_several(suite, exchange, &comm, 1, comm);
}

static void alone(Suite *suite, Collective collective, Form form) {
  for (size_t kind = 0; kind < KINDS; ++kind) {
    const Exchange exchange = of_kind(suite, kind, collective, form);
    char name[200];
    if (!suite_begin(suite, "%s/%s", exchange_name(&exchange, name, sizeof name), communicator_name(kinds[kind].comm)))
      continue;
    run_or_skip(suite, &exchange, communicator(kinds[kind].comm), false);
    suite_end(suite);
  }
}

static void between_groups(Suite *suite, Form form) {
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective) {
    const Exchange exchange = of_kind(suite, 1, collective, form);
    char name[200];
    if (!suite_begin(suite, "%s/intercommunicator", exchange_name(&exchange, name, sizeof name))) continue;
    if (suite->ranks < 2) {
      suite_skip(suite, "needs two ranks");
    } else {
      MPI_Comm comm;
      MPI_Intercomm_create(communicator(PARITY), 0, MPI_COMM_WORLD, suite->rank % 2 ? 0 : 1, 11, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      run_or_skip(suite, &exchange, comm, true);
      MPI_Comm_free(&comm);
    }
    suite_end(suite);
  }
}

/* Different collectives in the forms given, in turn, on one communicator or on two. */
static void together(Suite *suite, const char *name, const Form *forms, int number, bool two_communicators) {
  enum { MOST = 6 };
  Exchange exchanges[MOST];
  MPI_Comm comms[MOST];
  if (!suite_begin(suite, "together/%s/%s", name, two_communicators ? "two-communicators" : "one-communicator")) return;
  const char *why = NULL;
  for (int k = 0; k < number; ++k) {
    comms[k] = communicator(two_communicators && k % 2 ? REVERSED : DUPLICATE);
    exchanges[k] = of_kind(suite, (size_t)k % 5, (Collective)((k + number) % COLLECTIVES), forms[k]);
    exchanges[k].seed += 1000 * (uint64_t)k;
    if (!why) why = exchange_unsuitable(&exchanges[k], false);
  }
  if (why) suite_skip(suite, why);
  else exchange_run_several(suite, exchanges, comms, number, comms[0]);
  suite_end(suite);
}

void cases_forms(Suite *suite) {
  for (Form form = NONBLOCKING; form < FORMS; ++form) {
    for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective) alone(suite, collective, form);
    if (form != PLAN) between_groups(suite, form);
  }
  static const struct {
    const char *name;
    int number;
    Form forms[6];
  } mixes[] = {
      {"nonblocking", 4, {NONBLOCKING, NONBLOCKING, NONBLOCKING, NONBLOCKING}},
      {"nonblocking-and-blocking", 5, {NONBLOCKING, BLOCKING, NONBLOCKING, BLOCKING, NONBLOCKING}},
      {"persistent", 4, {PERSISTENT, PERSISTENT, PERSISTENT, PERSISTENT}},
      {"persistent-and-nonblocking", 5, {PERSISTENT, NONBLOCKING, PERSISTENT, BLOCKING, NONBLOCKING}},
      {"plans", 5, {PLAN, PLAN, PLAN, PLAN, PLAN}},
      {"plans-and-nonblocking", 6, {PLAN, NONBLOCKING, PLAN, BLOCKING, NONBLOCKING, PLAN}},
      {"all-forms", 6, {NONBLOCKING, PLAN, PERSISTENT, PLAN, BLOCKING, PERSISTENT}},
  };
  for (size_t k = 0; k < sizeof mixes / sizeof mixes[0]; ++k)
    for (int two = 0; two < 2; ++two) together(suite, mixes[k].name, mixes[k].forms, mixes[k].number, two);
}
