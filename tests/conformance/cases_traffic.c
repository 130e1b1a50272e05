/* The user's own messages around a collective, and the progress that legal programs count on. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>

#include "cases.h"
#include "communicators.h"
#include "exchange.h"
#include "oracle.h"

enum { MESSAGE_BYTES = 1 << 20, TAG = 7, LATE_MS = 20 }; /* 1 MiB: beyond any eager limit */

typedef struct {
  Suite *suite;
  const Exchange *exchange;
  MPI_Comm comm;
  int rank, ranks;
} Scene;

static unsigned char *message(int source, size_t bytes) {
  unsigned char *data = malloc(bytes);
  oracle_write(data, ORACLE_DATA, oracle_key(99, source, TAG), 0, bytes);
  return data;
}

static void expect_message(const Scene *scene, const unsigned char *data, int source, size_t bytes,
                           const MPI_Status *status, int tag) {
  if (status->MPI_SOURCE != source || status->MPI_TAG != tag)
    suite_fail(scene->suite, "the user's receive got a message from %d with tag %d; expected %d and %d",
               status->MPI_SOURCE, status->MPI_TAG, source, tag);
  else if (oracle_compare(data, ORACLE_DATA, oracle_key(99, source, TAG), 0, bytes) != bytes)
    suite_fail(scene->suite, "the user's message from %d has wrong data", source);
}

/* Receives from anyone with any tag wait on the communicator and on MPI_COMM_WORLD; only the user's own may match. */
static void wildcard_receives(const Scene *scene) {
  enum { BYTES = 1 << 16, SENT = 100 };
  const int left = (scene->rank + scene->ranks - 1) % scene->ranks, right = (scene->rank + 1) % scene->ranks;
  const MPI_Comm comms[2] = {scene->comm, MPI_COMM_WORLD};
  unsigned char *received[2];
  unsigned char *sent = message(scene->rank, SENT);
  MPI_Request requests[2];
  for (int k = 0; k < 2; ++k) {
    received[k] = malloc(BYTES);
    MPI_Irecv(received[k], BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[k], &requests[k]);
  }
  exchange_run(scene->suite, scene->exchange, scene->comm);
  for (int k = 0; k < 2; ++k) {
    MPI_Status status;
    MPI_Send(sent, SENT, MPI_BYTE, right, TAG + k, comms[k]);
    MPI_Wait(&requests[k], &status);
    expect_message(scene, received[k], left, SENT, &status, TAG + k);
    free(received[k]);
  }
  free(sent);
}

/* Messages with the lowest, usual and highest tags are under way; the collective must not receive them. */
static void unexpected_sends(const Scene *scene) {
  enum { SENDS = 4, BYTES = 100 };
  const int left = (scene->rank + scene->ranks - 1) % scene->ranks, right = (scene->rank + 1) % scene->ranks;
  int *highest_tag = NULL, found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest_tag, &found);
  const int tags[SENDS] = {0, 1, TAG, found ? *highest_tag : 32767};
  unsigned char *sent = message(scene->rank, BYTES);
  unsigned char received[BYTES];
  MPI_Request requests[SENDS];
  for (int k = 0; k < SENDS; ++k) MPI_Isend(sent, BYTES, MPI_BYTE, right, tags[k], scene->comm, &requests[k]);
  exchange_run(scene->suite, scene->exchange, scene->comm);
  for (int k = 0; k < SENDS; ++k) {
    MPI_Status status;
    MPI_Recv(received, BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, scene->comm, &status);
    expect_message(scene, received, left, BYTES, &status, tags[k]);
  }
  MPI_Waitall(SENDS, requests, MPI_STATUSES_IGNORE);
  free(sent);
}

static void one_rank_late(const Scene *scene) {
  const struct timespec pause = {0, LATE_MS * 1000000L};
  if (scene->rank == scene->ranks / 2) nanosleep(&pause, NULL);
  exchange_run(scene->suite, scene->exchange, scene->comm);
}

/* Rank 1 cannot reach the collective before rank 0, already in it, has moved rank 1's large message. */
static void large_send_before(const Scene *scene) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  unsigned char *data = scene->rank == 1 ? message(1, MESSAGE_BYTES) : malloc(MESSAGE_BYTES);
  if (scene->rank == 0) MPI_Irecv(data, MESSAGE_BYTES, MPI_BYTE, 1, TAG, scene->comm, &request);
  if (scene->rank == 1) MPI_Send(data, MESSAGE_BYTES, MPI_BYTE, 0, TAG, scene->comm);
  exchange_run(scene->suite, scene->exchange, scene->comm);
  if (scene->rank == 0) {
    MPI_Wait(&request, &status);
    expect_message(scene, data, 1, MESSAGE_BYTES, &status, TAG);
  }
  free(data);
}

/* Synchronous sends, each to a rank that has gone on to its own send or into the collective. */
static void synchronous_chain(const Scene *scene) {
  enum { BYTES = 8 };
  const bool receives = scene->rank + 1 < scene->ranks;
  unsigned char *sent = message(scene->rank, BYTES);
  unsigned char received[BYTES];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  if (receives) MPI_Irecv(received, BYTES, MPI_BYTE, scene->rank + 1, TAG, scene->comm, &request);
  if (scene->rank > 0) MPI_Ssend(sent, BYTES, MPI_BYTE, scene->rank - 1, TAG, scene->comm);
  exchange_run(scene->suite, scene->exchange, scene->comm);
  if (receives) {
    MPI_Wait(&request, &status);
    expect_message(scene, received, scene->rank + 1, BYTES, &status, TAG);
  }
  free(sent);
}

/* Rank 0 is in the collective while the others still wait for a barrier that needs rank 0's progress. */
static void pending_barrier(const Scene *scene) {
  MPI_Request request;
  MPI_Ibarrier(scene->comm, &request);
  if (scene->rank != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  exchange_run(scene->suite, scene->exchange, scene->comm);
  if (scene->rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* wildcard-receives is legal with one rank as well, but MPICH 5.0.2 hangs there by itself: on one rank its own message
 * to itself matches the user's MPI_ANY_TAG receive. */
static const struct {
  const char *name;
  void (*run)(const Scene *scene);
  int least_ranks;
} scenes[] = {
    {"wildcard-receives", wildcard_receives, 2}, {"unexpected-sends", unexpected_sends, 1},
    {"one-rank-late", one_rank_late, 1},         {"large-send-before", large_send_before, 2},
    {"synchronous-chain", synchronous_chain, 2}, {"pending-barrier", pending_barrier, 1},
};

/* A fresh communicator a case, so that a library's first call on it, with all its setting up, is part of the scene. */
static void run_scene(Suite *suite, size_t which, const Exchange *exchange) {
  if (suite->ranks < scenes[which].least_ranks) {
    suite_skip(suite, "needs more ranks");
    return;
  }
  Scene scene = {suite, exchange, MPI_COMM_NULL, 0, suite->ranks};
  MPI_Comm_dup(MPI_COMM_WORLD, &scene.comm);
  MPI_Comm_rank(scene.comm, &scene.rank);
  scenes[which].run(&scene);
  MPI_Comm_free(&scene.comm);
}

static void run_case(Suite *suite, size_t which, Collective collective, Form form, MPI_Aint block_bytes) {
  const Exchange exchange = {.collective = collective,
                             .form = form,
                             .send = type_find("double/basic"),
                             .recv = type_find("double/basic"),
                             .block_bytes = block_bytes,
                             .pattern = is_vector(collective) ? VARIED : UNIFORM,
                             .seed = suite->options.seed};
  static const char *const forms[FORMS] = {"", "/nonblocking", "/persistent", "/plan"};
  if (!suite_begin(suite, "traffic/%s/%s/%ldB%s", scenes[which].name, collective_name(collective), (long)block_bytes,
                   forms[form]))
    return;
  const char *why = exchange_unsuitable(&exchange, false);
  if (why) suite_skip(suite, why);
  else run_scene(suite, which, &exchange);
  suite_end(suite);
}

void cases_traffic(Suite *suite) {
  static const MPI_Aint sizes[] = {8, 40000};
  for (size_t which = 0; which < sizeof scenes / sizeof scenes[0]; ++which) {
    for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective)
      for (size_t size = collective > ALLTOALLV; size < sizeof sizes / sizeof sizes[0]; ++size)
        run_case(suite, which, collective, BLOCKING, sizes[size]);
    for (Form form = NONBLOCKING; form < FORMS; ++form) run_case(suite, which, ALLTOALLV, form, sizes[1]);
  }
}
