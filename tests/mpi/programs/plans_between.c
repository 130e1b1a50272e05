/* Plans of each collective on intercommunicators between the first k ranks and all others, for each k. Blocks have other
 * sizes from one group to the other than back, also none. Argument: a spec ("" for none). Prints "plans_between: right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swapmeet/swapmeet.h>

enum { MOST_RANKS = 16, MOST_INTS = 4, ROOM = MOST_RANKS * MOST_INTS };

static int rank, wrong;

static void must(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "plans_between: rank %d: wrong: %s (%s)\n", rank, what, swapmeet_error_message());
  wrong = 1;
}

static int value(int from, int to, int k, int turn) { return ((turn * 64 + from) * 64 + to) * MOST_INTS + k; }

/* Elements from rank `from` to rank `to`: `equal` ones to the rank's group, or unequal ones. */
static int size_of(int equal, int from, int to) { return equal >= 0 ? equal : (from + 2 * to) % MOST_INTS; }

/* One side: a block for each of `blocks` ranks from `first` on. */
typedef struct {
  int counts[MOST_RANKS], places[MOST_RANKS], bytes[MOST_RANKS], data[ROOM];
  MPI_Datatype types[MOST_RANKS];
} Side;

static void fill(Side *side, int equal, int sends, int first, int blocks) {
  for (int i = 0; i < blocks; ++i) {
    side->counts[i] = sends ? size_of(equal, rank, first + i) : size_of(equal, first + i, rank);
    side->places[i] = i * MOST_INTS, side->bytes[i] = side->places[i] * (int)sizeof(int), side->types[i] = MPI_INT;
  }
}

/* Where the k-th element of block i of `side` lies: blocks of an MPI_Alltoall are side by side. */
static int *element(Side *side, int packed, int i, int k) {
  return &side->data[(packed ? i * side->counts[i] : side->places[i]) + k];
}

static int plan_of(int kind, Side *s, Side *r, MPI_Comm comm, const char *spec, swapmeet_plan **plan) {
  if (kind == 0)
    return swapmeet_plan_alltoall(s->data, s->counts[0], MPI_INT, r->data, r->counts[0], MPI_INT, comm, spec, plan);
  if (kind == 1)
    return swapmeet_plan_alltoallv(s->data, s->counts, s->places, MPI_INT, r->data, r->counts, r->places, MPI_INT, comm,
                                   spec, plan);
  return swapmeet_plan_alltoallw(s->data, s->counts, s->bytes, s->types, r->data, r->counts, r->bytes, r->types, comm,
                                 spec, plan);
}

/* `to_remote`, `to_here`: elements of each block in a direction; negative: unequal ones. */
static void exchange(int kind, int to_remote, int to_here, int first, MPI_Comm comm, const char *spec) {
  static Side sent, received;
  int others;
  swapmeet_plan *plan = NULL;
  MPI_Comm_remote_size(comm, &others);
  fill(&sent, to_remote, 1, first, others), fill(&received, to_here, 0, first, others);
  must(!plan_of(kind, &sent, &received, comm, spec, &plan), "plan");
  for (int turn = 0; turn < 2 && plan; ++turn) {
    memset(received.data, 0x5a, sizeof received.data);
    int expected[ROOM];
    memcpy(expected, received.data, sizeof expected);
    for (int i = 0; i < others; ++i) {
      for (int k = 0; k < sent.counts[i]; ++k) *element(&sent, kind == 0, i, k) = value(rank, first + i, k, turn);
      for (int k = 0; k < received.counts[i]; ++k)
        expected[element(&received, kind == 0, i, k) - received.data] = value(first + i, rank, k, turn);
    }
    must(!swapmeet_plan_start(plan) && !swapmeet_plan_wait(plan), "exchange");
    must(memcmp(received.data, expected, sizeof expected) == 0, "bytes");
  }
  must(!swapmeet_plan_free(&plan), "free");
}

int main(int argc, char **argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *const spec = *argv[1] ? argv[1] : NULL;
  for (int k = 1; k < ranks; ++k) {
    const int among_first = rank < k, remote = among_first ? k : 0;
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, among_first, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, remote, 7, &between);
    for (int kind = 0; kind < 3; ++kind) {
      exchange(kind, 2, 2, remote, between, spec);
      exchange(kind, among_first ? 2 : 0, among_first ? 0 : 2, remote, between, spec);
      exchange(kind, among_first ? 1 : 3, among_first ? 3 : 1, remote, between, spec);
      if (kind > 0) exchange(kind, -1, -1, remote, between, spec);
    }
    MPI_Comm_free(&between), MPI_Comm_free(&half);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !wrong) puts("plans_between: right");
  MPI_Finalize();
  return wrong;
}
