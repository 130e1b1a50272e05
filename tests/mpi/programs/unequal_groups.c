/* Every form of an all-to-all on intercommunicators between the first k ranks and all others, for each k. Count, displacement
 * and type arrays have one entry for each rank of the remote group and end where memory ends, and so do the buffers. */
#include <mpi.h>
#include <stdio.h>

#include "guarded.h"

enum { EQUAL, VARYING, TYPED, KINDS };
enum { BLOCKING, STARTED, PERSISTENT, FORMS };
static const char *const forms[] = {"blocking", "started", "persistent"}, *const kinds[] = {"", "v", "w"};

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

static int calls, failures;

#define ARRAY(type, entries) ((type *)guarded_allocate((size_t)(entries) * sizeof(type), GUARDED_END))

/* One side: a block for each rank of the remote group, some without data. */
typedef struct {
  int blocks, number, *counts, *places, *bytes, *data;
  MPI_Datatype *types;
} Side;

static int size_of(int kind, int from, int to) { return kind == EQUAL ? 2 : (from + 2 * to) % 4; }
static int value(int from, int to, int k, int turn) { return ((turn * 64 + from) * 64 + to) * 4 + k; }

/* Ranks are those of MPI_COMM_WORLD: `rank` is this one, `first` the first of the remote group. */
static Side side_of(int kind, int blocks, int rank, int first, int sends) {
  Side side = {
      blocks, 0, ARRAY(int, blocks), ARRAY(int, blocks), ARRAY(int, blocks), NULL, ARRAY(MPI_Datatype, blocks)};
  for (int i = 0; i < blocks; ++i) {
    side.counts[i] = sends ? size_of(kind, rank, first + i) : size_of(kind, first + i, rank);
    side.places[i] = side.number;
    side.bytes[i] = side.number * (int)sizeof(int);
    side.types[i] = MPI_INT;
    side.number += side.counts[i];
  }
  side.data = ARRAY(int, side.number);
  return side;
}

static void free_side(Side *side) {
  guarded_free(side->counts), guarded_free(side->places), guarded_free(side->bytes), guarded_free(side->types);
  guarded_free(side->data);
}

static void call(int kind, int form, const Side *s, const Side *r, MPI_Comm comm, MPI_Request *request) {
  const MPI_Datatype type = MPI_INT;
  if (form == BLOCKING && kind == EQUAL) MPI_Alltoall(s->data, 2, type, r->data, 2, type, comm);
  if (form == BLOCKING && kind == VARYING)
    MPI_Alltoallv(s->data, s->counts, s->places, type, r->data, r->counts, r->places, type, comm);
  if (form == BLOCKING && kind == TYPED)
    MPI_Alltoallw(s->data, s->counts, s->bytes, s->types, r->data, r->counts, r->bytes, r->types, comm);
  if (form == STARTED && kind == EQUAL) MPI_Ialltoall(s->data, 2, type, r->data, 2, type, comm, request);
  if (form == STARTED && kind == VARYING)
    MPI_Ialltoallv(s->data, s->counts, s->places, type, r->data, r->counts, r->places, type, comm, request);
  if (form == STARTED && kind == TYPED)
    MPI_Ialltoallw(s->data, s->counts, s->bytes, s->types, r->data, r->counts, r->bytes, r->types, comm, request);
#if HAS_PERSISTENT
  const MPI_Info none = MPI_INFO_NULL;
  if (form == PERSISTENT && kind == EQUAL) MPI_Alltoall_init(s->data, 2, type, r->data, 2, type, comm, none, request);
  if (form == PERSISTENT && kind == VARYING)
    MPI_Alltoallv_init(s->data, s->counts, s->places, type, r->data, r->counts, r->places, type, comm, none, request);
  if (form == PERSISTENT && kind == TYPED)
    MPI_Alltoallw_init(s->data, s->counts, s->bytes, s->types, r->data, r->counts, r->bytes, r->types, comm, none,
                       request);
  if (form == PERSISTENT) MPI_Start(request);
#endif
  if (form != BLOCKING) MPI_Wait(request, MPI_STATUS_IGNORE);
  if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
}

static void exchange(int kind, int form, int turn, int rank, int first, MPI_Comm comm) {
  int others, wrong = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_remote_size(comm, &others);
  Side sent = side_of(kind, others, rank, first, 1), received = side_of(kind, others, rank, first, 0);
  for (int i = 0; i < others; ++i)
    for (int k = 0; k < sent.counts[i]; ++k) sent.data[sent.places[i] + k] = value(rank, first + i, k, turn);
  for (int i = 0; i < received.number; ++i) received.data[i] = -1;
  call(kind, form, &sent, &received, comm, &request);
  for (int i = 0; i < others; ++i)
    for (int k = 0; k < received.counts[i]; ++k)
      wrong += received.data[received.places[i] + k] != value(first + i, rank, k, turn);
  if (wrong > 0) printf("unequal_groups: %s alltoall%s, rank %d: wrong data\n", forms[form], kinds[kind], rank);
  ++calls, failures += wrong > 0;
  free_side(&sent), free_side(&received);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int k = 1; k < ranks; ++k) {
    const int among_first = rank < k, remote = among_first ? k : 0;
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, among_first, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, remote, 7, &between);
    for (int turn = 0; turn < 3; ++turn)
      for (int form = 0; form < FORMS - !HAS_PERSISTENT; ++form)
        for (int kind = 0; kind < KINDS; ++kind) exchange(kind, form, turn, rank, remote, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("unequal_groups: %d calls, %d wrong\n", calls, failures);
  MPI_Finalize();
  return failures != 0;
}
