/* What a library may hang on a communicator, and what it must leave alone there. */
#include <string.h>

#include "cases.h"
#include "communicators.h"
#include "exchange.h"

static Exchange small_exchange(const Suite *suite, Collective collective, MPI_Aint block_bytes) {
  return (Exchange){.collective = collective,
                    .send = type_find("int/vector"),
                    .recv = type_find("int/basic"),
                    .block_bytes = block_bytes,
                    .pattern = is_vector(collective) ? VARIED : UNIFORM,
                    .seed = suite->options.seed};
}

static void exchange_with_all(Suite *suite, MPI_Comm comm) {
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective) {
    const Exchange exchange = small_exchange(suite, collective, 64);
    exchange_run(suite, &exchange, comm);
  }
}

/* Handles and context ids are recycled: what was cached for a freed communicator must go with it. */
static void many_communicators(Suite *suite) {
  enum { MANY = 12 };
  for (int k = 0; k < MANY; ++k) {
    const Communicator parent = k % 3 == 0 ? WORLD : k % 3 == 1 ? PARITY : REVERSED;
    MPI_Comm comm;
    MPI_Comm_dup(communicator(parent), &comm);
    const Exchange exchange = small_exchange(suite, (Collective)(k % COLLECTIVES), 8 + 100 * (k % 4));
    exchange_run(suite, &exchange, comm);
    if (k % 2) MPI_Comm_free(&comm);
    else MPI_Comm_disconnect(&comm);
  }
}

static void several_at_once(Suite *suite) {
  enum { SEVERAL = 4 };
  MPI_Comm comm[SEVERAL];
  for (int k = 0; k < SEVERAL; ++k) MPI_Comm_dup(k > 0 ? comm[k - 1] : MPI_COMM_WORLD, &comm[k]);
  for (int k = SEVERAL - 1; k >= 0; --k) exchange_with_all(suite, comm[k]);
  /* Parents go first. */
  for (int k = 0; k < SEVERAL; ++k) {
    const Exchange exchange = small_exchange(suite, ALLTOALL, 4096);
    exchange_run(suite, &exchange, comm[SEVERAL - 1]);
    MPI_Comm_free(&comm[k]);
  }
}

/* Still alive at MPI_Finalize. */
static void leaked(Suite *suite) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  exchange_with_all(suite, comm);
}

/* Calls of the user's attribute callbacks, counted in the variable that the attribute points to. */
typedef struct {
  int copied, deleted;
} CallbackCounts;

static int count_copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *keep) {
  (void)comm, (void)keyval;
  ((CallbackCounts *)extra)->copied++;
  *(void **)copy = value;
  *keep = 1;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value;
  ((CallbackCounts *)extra)->deleted++;
  return MPI_SUCCESS;
}

static void attributes(Suite *suite, Communicator parent) {
  CallbackCounts counts = {0, 0};
  int keyval, found = 0;
  void *value = NULL;
  MPI_Comm comm;
  MPI_Comm_create_keyval(count_copy, count_delete, &keyval, &counts);
  MPI_Comm_dup(communicator(parent), &comm);
  MPI_Comm_set_attr(comm, keyval, &counts);
  exchange_with_all(suite, comm);
  MPI_Comm_get_attr(comm, keyval, &value, &found);
  if (counts.copied != 0) suite_fail(suite, "the copy callback ran %d times in the collectives", counts.copied);
  if (counts.deleted != 0) suite_fail(suite, "the delete callback ran %d times in the collectives", counts.deleted);
  if (!found || value != &counts) suite_fail(suite, "the attribute is gone or has changed");
  MPI_Comm_free(&comm);
  if (counts.copied != 0 || counts.deleted != 1)
    suite_fail(suite, "after the free: %d copies, %d deletions; expected 0 and 1", counts.copied, counts.deleted);
  MPI_Comm_free_keyval(&keyval);
}

/* A duplicate of a used communicator gets the user's attribute once, and works. */
static void duplicate_of_used(Suite *suite) {
  CallbackCounts counts = {0, 0};
  int keyval;
  MPI_Comm used, copy;
  MPI_Comm_create_keyval(count_copy, count_delete, &keyval, &counts);
  MPI_Comm_dup(MPI_COMM_WORLD, &used);
  MPI_Comm_set_attr(used, keyval, &counts);
  exchange_with_all(suite, used);
  MPI_Comm_dup(used, &copy);
  if (counts.copied != 1) suite_fail(suite, "MPI_Comm_dup ran the copy callback %d times", counts.copied);
  MPI_Comm_free(&used);
  exchange_with_all(suite, copy);
  MPI_Comm_free(&copy);
  if (counts.deleted != 2) suite_fail(suite, "%d deletions; expected 2", counts.deleted);
  MPI_Comm_free_keyval(&keyval);
}

static int handler_calls;

static void count_error(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  ++handler_calls;
}

static void error_handlers(Suite *suite) {
  MPI_Comm comm;
  MPI_Errhandler mine, now;
  handler_calls = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  exchange_with_all(suite, comm);
  MPI_Comm_get_errhandler(comm, &now);
  if (now != MPI_ERRORS_RETURN) suite_fail(suite, "MPI_ERRORS_RETURN did not stay set");
  MPI_Errhandler_free(&now);

  MPI_Comm_create_errhandler(count_error, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  exchange_with_all(suite, comm);
  MPI_Comm_get_errhandler(comm, &now);
  if (now != mine) suite_fail(suite, "the user's error handler did not stay set");
  if (handler_calls != 0) suite_fail(suite, "the user's error handler ran %d times without an error", handler_calls);
  MPI_Errhandler_free(&now);
  MPI_Errhandler_free(&mine);
  MPI_Comm_free(&comm);
}

static void name_stays(Suite *suite) {
  MPI_Comm comm;
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "the user's");
  exchange_with_all(suite, comm);
  MPI_Comm_get_name(comm, name, &length);
  if (strcmp(name, "the user's") != 0) suite_fail(suite, "the communicator's name became \"%s\"", name);
  MPI_Comm_free(&comm);
}

static void intercommunicator(Suite *suite) {
  if (suite->ranks < 2) {
    suite_skip(suite, "needs two ranks");
    return;
  }
  MPI_Comm comm;
  MPI_Intercomm_create(communicator(PARITY), 0, MPI_COMM_WORLD, suite->rank % 2 ? 0 : 1, 11, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  exchange_with_all(suite, comm);
  MPI_Comm_free(&comm);
}

static void attributes_on_world_copy(Suite *suite) { attributes(suite, WORLD); }
static void attributes_on_split_copy(Suite *suite) { attributes(suite, PARITY); }

void cases_communicators(Suite *suite) {
  static const struct {
    const char *name;
    void (*run)(Suite *suite);
  } cases[] = {
      {"many", many_communicators},
      {"several-at-once", several_at_once},
      {"attributes/world", attributes_on_world_copy},
      {"attributes/even-odd", attributes_on_split_copy},
      {"duplicate-of-used", duplicate_of_used},
      {"error-handlers", error_handlers},
      {"name", name_stays},
      {"intercommunicator", intercommunicator},
      {"leaked", leaked},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    if (!suite_begin(suite, "communicators/%s", cases[k].name)) continue;
    cases[k].run(suite);
    suite_end(suite);
  }
}
