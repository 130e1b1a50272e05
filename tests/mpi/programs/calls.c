/* Does as it is told and checks every answer: so that what the library counts can be compared with what was called.
 *
 *   calls [WORD | WORD=N]...
 *     alltoall=N alltoallv=N in-place=N   so many calls on the current communicator
 *     evenly=N                            the same of MPI_Alltoallv with equal blocks
 *     alltoallw=N nonblocking=N           (the latter of MPI_Ialltoall, MPI_Ialltoallv, MPI_Ialltoallw, in turn)
 *     ints=N                              elements of a block from now on (Alltoallv: rank r sends 0..N to each)
 *     planned=N                           so many times, in MPI 4: MPI_Alltoall_init, started twice
 *     phases                              the phases of the next call are measured, by the library's own functions
 *     world self half pairs dup inter         the current communicator from now on (MPI_COMM_WORLD at first)
 *     copy                                a duplicate of the current communicator
 *     one-buffer=R                        an Alltoallv in which rank R's blocks, in and out, take turns in one buffer
 *     cycles=N                            so many times: a communicator of another shape, two calls, freed
 *     freed=N                             so many times: an MPI_Ialltoall on a duplicate that is freed before it is complete
 *     misfit=W                            an Alltoallv with a block that does not fit; W=1: MPI_Ialltoallv
 *     ending=N                            so many times: the first call on a communicator while it is freed
 *     no-finalize                         leave main without MPI_Finalize
 *     die=R                               rank R aborts (a signal, not MPI_Abort) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int value(int source, int destination, int index) { return 1000003 * source + 1009 * destination + index; }

static int peers_of(MPI_Comm comm) {
  int inter, ranks;
  MPI_Comm_test_inter(comm, &inter);
  if (inter) MPI_Comm_remote_size(comm, &ranks);
  else MPI_Comm_size(comm, &ranks);
  return ranks;
}

static void must(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "calls: wrong data from %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

enum { EVENLY = 2 };

/* Elements from `source` to `destination`: all n in Alltoall, some of them in Alltoallv. */
static int length(int vector, int source, int destination, int n) {
  return vector && vector != EVENLY ? (source + 2 * destination) % (n + 1) : n;
}

static void exchange(MPI_Comm comm, int n, int vector, int in_place) {
  const int peers = peers_of(comm);
  int rank;
  MPI_Comm_rank(comm, &rank);
  const size_t room = (size_t)peers * (size_t)n + 1;
  int *send = malloc(room * sizeof *send), *receive = malloc(room * sizeof *receive);
  int *counts = malloc(3 * (size_t)peers * sizeof *counts), *places = counts + peers, *expected = places + peers;
  for (int peer = 0; peer < peers; ++peer) {
    places[peer] = peer * n;
    counts[peer] = length(vector, rank, peer, n);
    expected[peer] = length(vector, peer, rank, n);
    for (int k = 0; k < n; ++k) {
      send[places[peer] + k] = value(rank, peer, k);
      receive[places[peer] + k] = in_place ? value(rank, peer, k) : -1;
    }
  }
  if (vector) MPI_Alltoallv(send, counts, places, MPI_INT, receive, expected, places, MPI_INT, comm);
  else MPI_Alltoall(in_place ? MPI_IN_PLACE : send, n, MPI_INT, receive, n, MPI_INT, comm);
  for (int peer = 0; peer < peers; ++peer)
    for (int k = 0; k < n; ++k)
      must(receive[places[peer] + k] == (k < expected[peer] ? value(peer, rank, k) : -1),
           vector ? "MPI_Alltoallv" : "MPI_Alltoall");
  free(send), free(receive), free(counts);
}

static void plan(MPI_Comm comm, int n) {
#if MPI_VERSION >= 4
  const int peers = peers_of(comm);
  int rank;
  MPI_Comm_rank(comm, &rank);
  int *send = malloc(2 * (size_t)(peers * n + 1) * sizeof *send), *receive = send + peers * n + 1;
  MPI_Request request;
  MPI_Alltoall_init(send, n, MPI_INT, receive, n, MPI_INT, comm, MPI_INFO_NULL, &request);
  for (int start = 0; start < 2; ++start) {
    for (int i = 0; i < peers * n; ++i) send[i] = value(rank, i / n, i % n + start), receive[i] = -1;
    MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < peers * n; ++i) must(receive[i] == value(i / n, rank, i % n + start), "MPI_Alltoall_init");
  }
  MPI_Request_free(&request);
  free(send);
#else
  (void)comm, (void)n;
#endif
}

/* Nothing without the library. */
static void measure(MPI_Comm comm, int n) {
  int (*const start)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "swapmeet_phases_begin");
  int (*const end)(MPI_Comm, double *) = (int (*)(MPI_Comm, double *))dlsym(RTLD_DEFAULT, "swapmeet_phases_end");
  double seconds[16];
  if (start && end) must(start(comm) == MPI_SUCCESS, "swapmeet_phases_begin");
  exchange(comm, n, 0, 0);
  if (start && end) must(end(comm, seconds) == MPI_SUCCESS, "swapmeet_phases_end");
}

static MPI_Request begin(int which, const int *counts, const int *expected, const int *places, const int *offsets,
                         const MPI_Datatype *types, const int *send, int *receive, int n, MPI_Comm comm) {
  MPI_Request request;
  if (which == 0) MPI_Ialltoall(send, n, MPI_INT, receive, n, MPI_INT, comm, &request);
  else if (which == 1)
    MPI_Ialltoallv(send, counts, places, MPI_INT, receive, expected, places, MPI_INT, comm, &request);
  else MPI_Ialltoallw(send, counts, offsets, types, receive, expected, offsets, types, comm, &request);
  return request;
}

/* MPI_Alltoallw, or, if `which` is 0, 1 or 2, a non-blocking form. */
static void exchange_typed(MPI_Comm comm, int n, int which) {
  enum { WHICH_BLOCKS = -1 };
  const int peers = peers_of(comm);
  int rank;
  MPI_Comm_rank(comm, &rank);
  const size_t room = (size_t)peers * (size_t)n + 1;
  int *send = malloc(room * sizeof *send), *receive = malloc(room * sizeof *receive);
  int *counts = malloc(4 * (size_t)peers * sizeof *counts), *places = counts + peers, *expected = places + peers;
  int *offsets = expected + peers;
  MPI_Datatype *types = malloc((size_t)peers * sizeof *types);
  for (int peer = 0; peer < peers; ++peer) {
    places[peer] = peer * n;
    offsets[peer] = peer * n * (int)sizeof(int);
    types[peer] = MPI_INT;
    counts[peer] = length(which != 0, rank, peer, n);
    expected[peer] = length(which != 0, peer, rank, n);
    for (int k = 0; k < n; ++k) send[places[peer] + k] = value(rank, peer, k), receive[places[peer] + k] = -1;
  }
  if (which == WHICH_BLOCKS) {
    MPI_Alltoallw(send, counts, offsets, types, receive, expected, offsets, types, comm);
  } else {
    MPI_Request request = begin(which, counts, expected, places, offsets, types, send, receive, n, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int peer = 0; peer < peers; ++peer)
    for (int k = 0; k < n; ++k)
      must(receive[places[peer] + k] == (k < expected[peer] ? value(peer, rank, k) : -1),
           "MPI_Alltoallw or MPI_Ialltoall*");
  free(send), free(receive), free(counts), free(types);
}

/* Legal, for no block overlaps another: but on one rank the two buffers have the same address. */
static void exchange_in_one_buffer(MPI_Comm comm, int rank_with_one) {
  const int peers = peers_of(comm);
  int rank;
  MPI_Comm_rank(comm, &rank);
  int *out = calloc(4 * (size_t)peers, sizeof *out), *in = rank == rank_with_one ? out : out + 2 * peers;
  /* MPICH minds if they are one */
  int *counts = malloc(4 * (size_t)peers * sizeof *counts), *expected = counts + peers;
  int *even = expected + peers, *odd = even + peers;
  for (int peer = 0; peer < peers; ++peer) {
    counts[peer] = expected[peer] = 1, even[peer] = 2 * peer, odd[peer] = 2 * peer + 1;
    out[even[peer]] = value(rank, peer, 0);
  }
  MPI_Alltoallv(out, counts, even, MPI_INT, in, expected, odd, MPI_INT, comm);
  for (int peer = 0; peer < peers; ++peer) must(in[odd[peer]] == value(peer, rank, 0), "MPI_Alltoallv in one buffer");
  free(out), free(counts);
}

/* Groups of changing members in changing order. An MPI gives the handle of a freed communicator to the next. */
static void recycle(int cycles, int n) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, cycle % 3 == 0 ? 0 : rank % (cycle % 3), cycle % 2 ? rank : -rank, &comm);
    exchange(comm, n, 0, 0);
    exchange(comm, n, 1, 0);
    MPI_Comm_free(&comm);
  }
}

/* The first few that are started on a communicator are the host MPI's. */
static void exchange_first(MPI_Comm comm, int n, int which) {
  for (int i = 0; i < 5; ++i) exchange_typed(comm, n, which);
}

/* On a duplicate that is freed while the exchange is under way, after non-blocking ones and a blocking one. */
static void exchange_while_freed(int n) {
  MPI_Comm comm;
  MPI_Request request;
  int rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  exchange_first(comm, n, 0);
  exchange(comm, n, 0, 0);
  const int peers = peers_of(comm);
  int *send = malloc(2 * ((size_t)peers * (size_t)n + 1) * sizeof *send), *receive = send + peers * n;
  for (int i = 0; i < peers * n; ++i) send[i] = value(rank, i / n, i % n), receive[i] = -1;
  MPI_Ialltoall(send, n, MPI_INT, receive, n, MPI_INT, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < peers * n; ++i)
    must(receive[i] == value(i / n, rank, i % n), "MPI_Ialltoall on a freed communicator");
  free(send);
}

static int raised;
static void count_raised(MPI_Comm *comm, int *error, ...) { (void)comm, (void)error, ++raised; }

/* Rank 0 has no room for what the last rank sends: its error is raised once, and what follows is right. */
static void exchange_what_does_not_fit(int n, int which) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  MPI_Request request = MPI_REQUEST_NULL;
  int rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(count_raised, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_rank(comm, &rank);
  exchange_first(comm, n, 1);
  exchange(comm, n, 1, 0);
  const int peers = peers_of(comm);
  int *send = calloc(7 * (size_t)peers, sizeof *send), *receive = send + 2 * peers;
  int *counts = receive + 2 * peers, *expected = counts + peers, *places = expected + peers;
  for (int peer = 0; peer < peers; ++peer) counts[peer] = expected[peer] = 1, places[peer] = 2 * peer;
  if (rank == peers - 1) counts[0] = 2;
  raised = 0;
  int error = which ? MPI_Ialltoallv(send, counts, places, MPI_INT, receive, expected, places, MPI_INT, comm, &request)
                    : MPI_Alltoallv(send, counts, places, MPI_INT, receive, expected, places, MPI_INT, comm);
  if (!error) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  must(raised == (error != MPI_SUCCESS) && (rank > 0 || error), "raising an error");
  exchange(comm, n, 0, 0);
  MPI_Errhandler_free(&handler), MPI_Comm_free(&comm);
  free(send);
}

static int end(MPI_Comm comm, int keyval, void *attribute, void *n) {
  (void)keyval, (void)attribute;
  exchange(comm, *(int *)n, 0, 0);
  return MPI_SUCCESS;
}

/* The first exchange of a communicator in a delete callback, while it is freed. The next may get its handle. */
static void exchange_at_the_end(int n) {
  MPI_Comm comm, part;
  int keyval, rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &keyval, &n);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  MPI_Comm_set_attr(comm, keyval, NULL);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  exchange(part, n, 0, 0);
  MPI_Comm_free(&part), MPI_Comm_free_keyval(&keyval);
}

static MPI_Comm named(const char *name) {
  MPI_Comm comm = MPI_COMM_WORLD, part;
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (strcmp(name, "self") == 0) return MPI_COMM_SELF;
  if (strcmp(name, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (strcmp(name, "half") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  if (strcmp(name, "pairs") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm);
  if (strcmp(name, "inter") == 0) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &comm);
  }
  return comm; /* never freed: the application may keep its communicators until MPI_Finalize */
}

int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  int ints = 4, finalize = 1, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 1; k < argc; ++k) {
    const char *equals = strchr(argv[k], '=');
    const int n = equals ? atoi(equals + 1) : 0;
    if (strncmp(argv[k], "ints=", 5) == 0) ints = n;
    else if (strncmp(argv[k], "alltoall=", 9) == 0)
      for (int i = 0; i < n; ++i) exchange(comm, ints, 0, 0);
    else if (strncmp(argv[k], "alltoallv=", 10) == 0)
      for (int i = 0; i < n; ++i) exchange(comm, ints, 1, 0);
    else if (strncmp(argv[k], "evenly=", 7) == 0)
      for (int i = 0; i < n; ++i) exchange(comm, ints, EVENLY, 0);
    else if (strncmp(argv[k], "alltoallw=", 10) == 0)
      for (int i = 0; i < n; ++i) exchange_typed(comm, ints, -1);
    else if (strncmp(argv[k], "nonblocking=", 12) == 0)
      for (int i = 0; i < n; ++i) exchange_typed(comm, ints, i % 3);
    else if (strncmp(argv[k], "in-place=", 9) == 0)
      for (int i = 0; i < n; ++i) exchange(comm, ints, 0, 1);
    else if (strncmp(argv[k], "planned=", 8) == 0)
      for (int i = 0; i < n; ++i) plan(comm, ints);
    else if (strcmp(argv[k], "phases") == 0) measure(comm, ints);
    else if (strcmp(argv[k], "copy") == 0) MPI_Comm_dup(comm, &comm);
    else if (strncmp(argv[k], "one-buffer=", 11) == 0) exchange_in_one_buffer(comm, n);
    else if (strncmp(argv[k], "cycles=", 7) == 0) recycle(n, ints);
    else if (strncmp(argv[k], "freed=", 6) == 0)
      for (int i = 0; i < n; ++i) exchange_while_freed(ints);
    else if (strncmp(argv[k], "ending=", 7) == 0)
      for (int i = 0; i < n; ++i) exchange_at_the_end(ints);
    else if (strncmp(argv[k], "misfit=", 7) == 0) exchange_what_does_not_fit(ints, n);
    else if (strcmp(argv[k], "no-finalize") == 0) finalize = 0;
    else if (strncmp(argv[k], "die=", 4) == 0) {
      if (rank == n) abort();
    } else comm = named(argv[k]);
  }
  if (rank == 0) puts("calls: done");
  fflush(stdout);
  if (finalize) MPI_Finalize();
  else if (rank > 0) sleep(2); /* launchers kill the other ranks when one leaves so: rank 0 leaves first */
  return 0;
}
