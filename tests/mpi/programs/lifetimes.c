/* All-to-alls where communicators and MPI itself begin and end. Checks every answer.
 *
 *   lifetimes delete     in the delete callbacks of attributes: of a freed, a disconnected and a leaked communicator,
 *                        and of MPI_COMM_SELF in MPI_Finalize
 *   lifetimes handles    the same, and later communicators get the handles on some ranks only
 *   lifetimes starts     there, non-blocking ones and a persistent one that was made before, and started before
 *   lifetimes first      the same, none of which was started before; one rank is late
 *   lifetimes session    on communicators of a session, without MPI_Init; some are left when it ends
 *   lifetimes both       the same, while the world model is there too, and after the session is gone
 *   lifetimes again      the same, in two sessions one after the other */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 16, CALLS = 12 };

static int answers;

static void check(const int *received, int rank, int ranks) {
  for (int peer = 0; peer < ranks; ++peer)
    if (received[peer] != 100 * peer + rank) {
      fprintf(stderr, "lifetimes: wrong data\n");
      abort();
    }
  ++answers;
}

static void start(MPI_Comm comm) {
  int rank, ranks, sent[MOST_RANKS], received[MOST_RANKS];
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int peer = 0; peer < ranks; ++peer) sent[peer] = 100 * rank + peer, received[peer] = -1;
  MPI_Ialltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(received, rank, ranks);
}

static void exchange(MPI_Comm comm) {
  int rank, ranks, sent[MOST_RANKS], received[MOST_RANKS], ones[MOST_RANKS], places[MOST_RANKS], offsets[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int peer = 0; peer < ranks; ++peer) {
    ones[peer] = 1, places[peer] = peer, offsets[peer] = peer * (int)sizeof(int), types[peer] = MPI_INT;
    sent[peer] = 100 * rank + peer;
  }
  for (int which = 0; which < 3; ++which) {
    memset(received, -1, sizeof received);
    if (which == 0) MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm);
    if (which == 1) MPI_Alltoallv(sent, ones, places, MPI_INT, received, ones, places, MPI_INT, comm);
    if (which == 2) MPI_Alltoallw(sent, ones, offsets, types, received, ones, offsets, types, comm);
    check(received, rank, ranks);
  }
}

static int exchange_on_delete(MPI_Comm comm, int key, void *value, void *extra) {
  (void)key, (void)value, (void)extra;
  exchange(comm);
  start(comm);
  exchange(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

static MPI_Comm with_callback(int key, int duplicate) {
  MPI_Comm comm;
  if (duplicate) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
  MPI_Comm_set_attr(comm, key, NULL);
  return comm;
}

static void delete_callbacks(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, exchange_on_delete, &key, NULL);
  for (int used = 0; used < 3; ++used)
    for (int disconnected = 0; disconnected < 2; ++disconnected) {
      MPI_Comm comm = with_callback(key, used < 2);
      for (int k = 0; used == 1 && k < CALLS; ++k) exchange(comm);
      if (used == 2) start(comm);
      if (disconnected) MPI_Comm_disconnect(&comm);
      else MPI_Comm_free(&comm);
    }
  exchange(with_callback(key, 1));
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

/* Ranks have other numbers of communicators of their own meanwhile, so that a handle that is free again is that of other
 * communicators on each. */
static void handles(void) {
  enum { TIMES = 40, OWN = 3 };
  int key, rank;
  MPI_Comm own[OWN], comm, half;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, exchange_on_delete, &key, NULL);
  for (int time = 0; time < TIMES; ++time) {
    comm = with_callback(key, 1);
    exchange(comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < OWN; ++i) {
      own[i] = MPI_COMM_NULL;
      if (rank >= i && (time + rank + i) % 2) MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    exchange(half);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int k = 0; k < 2; ++k) exchange(comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&half);
    for (int i = 0; i < OWN; ++i)
      if (own[i] != MPI_COMM_NULL) MPI_Comm_free(&own[i]);
  }
}

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static struct {
  int sent[MOST_RANKS], received[MOST_RANKS];
  MPI_Request persistent;
} started;

static void check_started(MPI_Request *request) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  check(started.received, rank, ranks);
  memset(started.received, -1, sizeof started.received);
}

static void exchange_started(void) {
  MPI_Request request;
  MPI_Ialltoall(started.sent, 1, MPI_INT, started.received, 1, MPI_INT, MPI_COMM_WORLD, &request);
  check_started(&request);
  MPI_Start(&started.persistent);
  check_started(&started.persistent);
}

static int start_on_delete(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < CALLS; ++k) {
    if (rank == 0) usleep(1000); /* the others are to need progress */
    exchange_started();
    exchange(MPI_COMM_WORLD);
  }
  MPI_Request_free(&started.persistent);
  return MPI_SUCCESS;
}

/* The attribute comes first: the callbacks of those that follow, as the library may set them, are called before this one. */
static void starts(int before) {
  int key, rank;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, start_on_delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int peer = 0; peer < MOST_RANKS; ++peer) started.sent[peer] = 100 * rank + peer;
  MPI_Alltoall_init(started.sent, 1, MPI_INT, started.received, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                    &started.persistent);
  for (int k = 0; k < before; ++k) exchange_started();
}

static void session(const char *tag) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, copy;
  int rank;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  for (int k = 0; k < CALLS; ++k) exchange(comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_split(comm, rank % 2, -rank, &copy);
  for (int k = 0; k < CALLS; ++k) exchange(copy);
  MPI_Comm_free(&copy);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}
#else
static void starts(int before) { answers += before; }
static void session(const char *tag) { (void)tag; }
#endif

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "session") == 0 || strcmp(what, "again") == 0) {
    session("first");
    if (strcmp(what, "again") == 0) session("second");
  } else {
    MPI_Init(&argc, &argv);
    exchange(MPI_COMM_WORLD);
    if (strcmp(what, "delete") == 0) delete_callbacks();
    if (strcmp(what, "handles") == 0) handles();
    if (strcmp(what, "starts") == 0) starts(CALLS);
    if (strcmp(what, "first") == 0) starts(0);
    if (strcmp(what, "both") == 0) session("beside");
    for (int k = 0; k < CALLS; ++k) exchange(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  printf("lifetimes: %d right\n", answers);
  return 0;
}
