/* What the programs standard_*.c share: cases by name, and all-to-alls of every kind and form whose answers are checked.
 *
 *   PROGRAM LEVEL [NAME]...   LEVEL: single or multiple; the cases with these names, or all but those named -NAME
 *
 * A case that goes wrong prints a line; after all of them rank 0 prints "standard: right" if none has. Each case names the
 * section of MPI 4.1 that it follows from. */
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

enum { STANDARD_LIMIT_S = 200 }; /* of a case; no judgement: what hangs is named */

typedef struct {
  const char* name;
  int least_ranks;
  void (*run)(void);
} Case;

static int rank, ranks, failures;
static const char* volatile current = "";

static void expect(int right, const char* format, ...) {
  va_list arguments;
  if (right) return;
  if (++failures > 20) return;
  va_start(arguments, format);
  fprintf(stderr, "standard: %s: rank %d of %d: ", current, rank, ranks);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
}

enum { EQUAL, VARYING, TYPED, KINDS };
enum { BLOCKING, STARTED, PERSISTENT, FORMS };
enum { ROOM = 8, POISON = -7 };

/* One side of an all-to-all: what an EQUAL one is told, and arrays for the other kinds. */
typedef struct {
  const void* buffer;
  int count;
  MPI_Datatype type; /* of VARYING ones, too */
  const int *counts, *places, *offsets;
  const MPI_Datatype* types;
} Side;

/* Makes one call; a persistent one still has to be started. */
static MPI_Request call_all(MPI_Comm comm, int kind, int form, const Side* out, const Side* in) {
  void* const into = (void*)in->buffer;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (form * KINDS + kind) {
    case BLOCKING* KINDS + EQUAL:
      MPI_Alltoall(out->buffer, out->count, out->type, into, in->count, in->type, comm);
      break;
    case BLOCKING* KINDS + VARYING:
      MPI_Alltoallv(out->buffer, out->counts, out->places, out->type, into, in->counts, in->places, in->type, comm);
      break;
    case BLOCKING* KINDS + TYPED:
      MPI_Alltoallw(out->buffer, out->counts, out->offsets, out->types, into, in->counts, in->offsets, in->types, comm);
      break;
    case STARTED* KINDS + EQUAL:
      MPI_Ialltoall(out->buffer, out->count, out->type, into, in->count, in->type, comm, &request);
      break;
    case STARTED* KINDS + VARYING:
      MPI_Ialltoallv(out->buffer, out->counts, out->places, out->type, into, in->counts, in->places, in->type, comm,
                     &request);
      break;
    case STARTED* KINDS + TYPED:
      MPI_Ialltoallw(out->buffer, out->counts, out->offsets, out->types, into, in->counts, in->offsets, in->types, comm,
                     &request);
      break;
#if HAS_PERSISTENT
    case PERSISTENT* KINDS + EQUAL:
      MPI_Alltoall_init(out->buffer, out->count, out->type, into, in->count, in->type, comm, MPI_INFO_NULL, &request);
      break;
    case PERSISTENT* KINDS + VARYING:
      MPI_Alltoallv_init(out->buffer, out->counts, out->places, out->type, into, in->counts, in->places, in->type, comm,
                         MPI_INFO_NULL, &request);
      break;
    case PERSISTENT* KINDS + TYPED:
      MPI_Alltoallw_init(out->buffer, out->counts, out->offsets, out->types, into, in->counts, in->offsets, in->types,
                         comm, MPI_INFO_NULL, &request);
      break;
#endif
  }
  return request;
}

/* Waits for what call_all() has made. */
static inline void call_once(MPI_Comm comm, int kind, int form, const Side* out, const Side* in) {
  MPI_Request request = call_all(comm, kind, form, out, in);
  if (form == PERSISTENT) MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

/* One all-to-all that can be made again. Block i of either side begins at ROOM * i; each second type of a TYPED one has gaps. */
typedef struct {
  MPI_Comm comm;
  int kind, form, in_place, me, peers, round;
  int *out, *in, *counts, *places, *offsets;
  MPI_Datatype *types, vector;
  MPI_Request request;
} All;

static int block_value(int round, int from, int to, int k) { return ((round * 61 + from) * 61 + to) * ROOM + k; }

/* The same from `a` to `b` as back, so that it may be in place. */
static int block_count(const All* x, int peer) { return x->kind == EQUAL ? 3 : (x->me + peer + x->round) % 4; }

static int block_stride(const All* x, int peer) { return x->kind == TYPED && peer % 2 ? 2 : 1; }
static int block_place(const All* x, int peer) { return (x->kind == EQUAL ? 3 : ROOM) * peer; }

static void all_sizes(All* x) {
  for (int i = 0; i < x->peers; ++i) {
    x->counts[i] = block_count(x, i);
    x->places[i] = block_place(x, i), x->offsets[i] = block_place(x, i) * (int)sizeof(int);
    x->types[i] = block_stride(x, i) == 2 ? x->vector : MPI_INT;
  }
}

static void all_fill(All* x, int round) {
  if (x->form != PERSISTENT) x->round = round, all_sizes(x); /* sizes of a persistent one stay */
  for (int i = 0; i < ROOM * x->peers; ++i) x->out[i] = x->in[i] = POISON;
  for (int i = 0; i < x->peers; ++i)
    for (int k = 0; k < x->counts[i]; ++k)
      (x->in_place ? x->in : x->out)[x->places[i] + k * block_stride(x, i)] = block_value(round, x->me, i, k);
}

static void all_check(const All* x, int round) {
  for (int i = 0; i < x->peers; ++i) {
    const int width = x->kind == EQUAL ? 3 : ROOM, stride = block_stride(x, i);
    for (int k = 0; k < width; ++k) {
      const int data = k % stride == 0 && k / stride < x->counts[i];
      const int right = data ? block_value(round, i, x->me, k / stride) : POISON;
      const int found = x->in[x->places[i] + k];
      expect(found == right, "kind %d, form %d, in place %d, round %d: element %d from %d is %d, not %d", x->kind,
             x->form, x->in_place, round, k, i, found, right);
    }
  }
}

static MPI_Request all_call(const All* x) {
  const Side in = {x->in, 3, MPI_INT, x->counts, x->places, x->offsets, x->types};
  Side out = in;
  out.buffer = x->in_place ? MPI_IN_PLACE : x->out;
  if (x->in_place && x->kind == EQUAL) out.count = -1, out.type = MPI_DATATYPE_NULL;
  return call_all(x->comm, x->kind, x->form, &out, &in);
}

/* Collective where it is persistent. */
static All all_open(MPI_Comm comm, int kind, int form, int in_place) {
  All x = {comm, kind, form, in_place, 0, 0, 0, 0, 0, 0, 0, 0, 0, MPI_DATATYPE_NULL, MPI_REQUEST_NULL};
  MPI_Comm_rank(comm, &x.me), MPI_Comm_size(comm, &x.peers);
  const size_t peers = (size_t)x.peers;
  x.out = malloc(ROOM * peers * sizeof(int)), x.in = malloc(ROOM * peers * sizeof(int));
  x.counts = malloc(peers * sizeof(int)), x.places = malloc(peers * sizeof(int)),
  x.offsets = malloc(peers * sizeof(int)), x.types = malloc(peers * sizeof *x.types);
  MPI_Datatype gap;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap);
  MPI_Type_dup(gap, &x.vector), MPI_Type_commit(&x.vector);
  MPI_Type_free(&gap);
  all_sizes(&x);
  if (form == PERSISTENT) x.request = all_call(&x);
  return x;
}

/* A blocking one is over when it has begun. */
static void all_begin(All* x) {
  if (x->form == PERSISTENT) MPI_Start(&x->request);
  else x->request = all_call(x);
}

static void all_close(All* x) {
  if (x->request != MPI_REQUEST_NULL) MPI_Request_free(&x->request);
  MPI_Type_free(&x->vector);
  free(x->out), free(x->in), free(x->counts), free(x->places), free(x->offsets), free(x->types);
}

static inline void all_once(All* x, int round) {
  all_fill(x, round);
  all_begin(x);
  if (x->form != BLOCKING) MPI_Wait(&x->request, MPI_STATUS_IGNORE);
  all_check(x, round);
}

/* Rank `first` starts it and tells the others, which start when they hear of it. */
static inline void all_told(All* x, int round, int first) {
  int token = 0;
  all_fill(x, round);
  if (rank != first) MPI_Recv(&token, 1, MPI_INT, first, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  all_begin(x);
  for (int to = 0; rank == first && to < ranks; ++to)
    if (to != rank) MPI_Send(&token, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
  MPI_Wait(&x->request, MPI_STATUS_IGNORE);
  all_check(x, round);
}

/* For each kind and form, out of place and in place. */
#define FOR_EACH_ALL(kind, form, in_place)                          \
  for (int kind = 0; kind < KINDS; ++kind)                          \
    for (int form = 0; form < (HAS_PERSISTENT ? FORMS : 2); ++form) \
      for (int in_place = 0; in_place < 2; ++in_place)

static void report_case(int signal) {
  char line[200];
  const int length = snprintf(line, sizeof line, "standard: %s: rank %d of %d is still in it\n", current, rank, ranks);
  (void)signal;
  if (write(2, line, (size_t)length) < 0) _exit(3);
  _exit(3);
}

static int run_cases(const Case* cases, int number, int argc, char** argv) {
  int provided, all = 0;
  MPI_Init_thread(&argc, &argv, argc > 1 && argv[1][0] == 'm' ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  signal(SIGALRM, report_case);
  failures = 0;
  for (int i = 0; i < number; ++i) {
    int wanted = argc <= 2 || argv[2][0] == '-';
    for (int a = 2; a < argc; ++a) {
      if (strcmp(argv[a], cases[i].name) == 0) wanted = 1;
      if (argv[a][0] == '-' && strcmp(argv[a] + 1, cases[i].name) == 0) wanted = 0;
    }
    if (!wanted || ranks < cases[i].least_ranks) continue;
    current = cases[i].name;
    alarm(STANDARD_LIMIT_S);
    cases[i].run();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  alarm(0);
  current = "end";
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("standard: right\n");
  if (rank == 0 && all > 0) printf("standard: %d wrong\n", all);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
