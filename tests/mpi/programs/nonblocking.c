/* nonblocking LEVEL MODE [ROUNDS]: all-to-alls of MPI that are started and completed later, in a program that asked for
 * MPI_THREAD_SINGLE or MPI_THREAD_MULTIPLE. MODE:
 *   mixed       of all kinds, on several communicators at a time, completed in all ways and orders
 *   persistent  the same with persistent requests, started again and again, in another order on every rank
 *   blocked     while another rank waits in MPI_Recv
 *   freed       on a communicator that is freed at once
 *   ended       on communicators that end when they are freed, which an attribute tells
 *   aside       while rank 0 makes no call of MPI until the others are done, after which the file ROUNDS exists
 *   wrong       a block that does not fit, on a communicator whose errors return
 * It prints "nonblocking: right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STRIDE = 8, POISON = -7, COMMS = 3, KINDS = 5, ALL = COMMS * KINDS, TESTALL = 5, WAYS = 7, MOST_LOOKS = 20000 };
enum { EQUAL, IN_PLACE, GAPS, UNEQUAL, TYPED };

typedef struct {
  MPI_Comm comm;
  int kind, rank, ranks, round;
  int *out, *in, *counts, *places, *in_counts;
  MPI_Datatype *types;
} Exchange;

static int wrong, world_rank, world_ranks;

static int value(const Exchange *x, int source, int destination, int k) {
  return ((x->round * 31 + x->kind) * 101 + source) * 101 + destination * 7 + k;
}

/* Elements of a block; in kinds of equal blocks the same for all. */
static int count(const Exchange *x, int source, int destination) {
  return x->kind >= UNEQUAL ? (source * 3 + destination * 5 + x->round) % STRIDE : 3;
}

static int place(const Exchange *x, int peer) { return peer * (x->kind == EQUAL || x->kind == IN_PLACE ? 3 : STRIDE); }

static void make(Exchange *x, int kind, MPI_Comm comm) {
  x->kind = kind, x->comm = comm, x->round = 0;
  MPI_Comm_rank(comm, &x->rank), MPI_Comm_size(comm, &x->ranks);
  const size_t ranks = (size_t)x->ranks;
  x->out = malloc(ranks * STRIDE * sizeof(int)), x->in = malloc(ranks * STRIDE * sizeof(int));
  x->counts = malloc(ranks * sizeof(int)), x->in_counts = malloc(ranks * sizeof(int)),
  x->places = malloc(ranks * sizeof(int));
  x->types = malloc(ranks * sizeof *x->types);
}

static void unmake(Exchange *x) {
  free(x->out), free(x->in), free(x->counts), free(x->in_counts), free(x->places), free(x->types);
}

static void fill(Exchange *x, int round) {
  x->round = round;
  for (int i = 0; i < x->ranks * STRIDE; ++i) x->out[i] = x->in[i] = POISON;
  for (int peer = 0; peer < x->ranks; ++peer)
    for (int k = 0; k < count(x, x->rank, peer); ++k)
      (x->kind == IN_PLACE ? x->in : x->out)[place(x, peer) + k] = value(x, x->rank, peer, k);
}

static void check(const Exchange *x) {
  for (int peer = 0; peer < x->ranks; ++peer) {
    const int width = x->kind == EQUAL || x->kind == IN_PLACE ? 3 : STRIDE;
    for (int k = 0; k < width; ++k)
      wrong += x->in[place(x, peer) + k] != (k < count(x, peer, x->rank) ? value(x, peer, x->rank, k) : POISON);
  }
}

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
#define HAS_PERSISTENT 1
#define START(name, ...)                                                         \
  (persistent ? MPI_A##name##_init(__VA_ARGS__, x->comm, MPI_INFO_NULL, request) \
              : MPI_Ia##name(__VA_ARGS__, x->comm, request))
#else
#define HAS_PERSISTENT 0
#define START(name, ...) MPI_Ia##name(__VA_ARGS__, x->comm, request)
#endif

/* Types are freed at once. */
static void start(Exchange *x, int persistent, MPI_Request *request) {
  (void)persistent;
  MPI_Datatype block, with_gap, apart, further_on; /* an int, that far from its address */
  const MPI_Aint far = STRIDE * (MPI_Aint)sizeof(int);
  MPI_Type_create_hindexed_block(1, 1, &far, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, (MPI_Aint)sizeof(int), &further_on);
  MPI_Type_commit(&further_on);
  MPI_Type_free(&apart);
  MPI_Type_contiguous(3, MPI_INT, &block);
  MPI_Type_create_resized(block, 0, STRIDE * (MPI_Aint)sizeof(int), &with_gap);
  MPI_Type_commit(&with_gap);
  MPI_Type_free(&block);
  for (int peer = 0; peer < x->ranks; ++peer) {
    x->counts[peer] = count(x, x->rank, peer), x->in_counts[peer] = count(x, peer, x->rank);
    x->places[peer] = place(x, peer) * (x->kind == TYPED ? (int)sizeof(int) : 1);
    x->types[peer] = MPI_INT;
    if (x->kind == TYPED && peer % 2 == 1) x->types[peer] = further_on, x->places[peer] -= (int)far;
  }
  if (x->kind == EQUAL) START(lltoall, x->out, 3, MPI_INT, x->in, 3, MPI_INT);
  if (x->kind == IN_PLACE) START(lltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x->in, 3, MPI_INT);
  if (x->kind == GAPS) START(lltoall, x->out, 1, with_gap, x->in, 1, with_gap);
  if (x->kind == UNEQUAL)
    START(lltoallv, x->out, x->counts, x->places, MPI_INT, x->in, x->in_counts, x->places, MPI_INT);
  if (x->kind == TYPED)
    START(lltoallw, x->out, x->counts, x->places, x->types, x->in, x->in_counts, x->places, x->types);
  MPI_Type_free(&with_gap), MPI_Type_free(&further_on);
}

static void complete(int way, int number, MPI_Request *requests) {
  int done = 0, index, indices[ALL];
  switch (way % WAYS) {
    case 0: MPI_Waitall(number, requests, MPI_STATUSES_IGNORE); break;
    case 1:
      while (number-- > 0) MPI_Wait(&requests[number], MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int i = 0; i < number; ++i)
        for (done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
      break;
    case 3:
      for (int i = 0; i < number; ++i) MPI_Waitany(number, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 4:
      for (int all = 0; all < number; all += done) MPI_Testsome(number, requests, &done, indices, MPI_STATUSES_IGNORE);
      break;
    case TESTALL:
      while (!done) MPI_Testall(number, requests, &done, MPI_STATUSES_IGNORE);
      break;
    default:
      while (!done) MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
      /* MPICH 5.0.2 takes a persistent one that was over then as inactive: it is not among those that are over now. */
      do MPI_Waitsome(number, requests, &done, indices, MPI_STATUSES_IGNORE);
      while (done != MPI_UNDEFINED);
  }
}

static void mixed(int persistent, int rounds) {
  MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comms[2]);
  Exchange all[ALL];
  MPI_Request requests[ALL];
  for (int i = 0; i < ALL; ++i) make(&all[i], i % KINDS, comms[i / KINDS]);
  for (int i = 0; i < ALL && persistent; ++i) fill(&all[i], 0), start(&all[i], 1, &requests[i]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < ALL; ++i) fill(&all[i], persistent && all[i].kind >= UNEQUAL ? 0 : round);
    for (int k = 0; k < ALL && persistent && round % 2; ++k) MPI_Start(&requests[(k + world_rank) % ALL]);
    if (persistent && round % 2 == 0) MPI_Startall(ALL, requests);
    /* Each rank takes the communicators in an order of its own. */
    for (int k = 0; k < ALL && !persistent; ++k) {
      const int i = (k / KINDS + world_rank) % COMMS * KINDS + k % KINDS;
      start(&all[i], 0, &requests[i]);
    }
    int way = (round + world_rank) % WAYS;
    if (persistent && way == TESTALL) way = 0; /* MPICH 5.0.2 cannot, of its own persistent all-to-alls neither */
    complete(way, ALL, requests);
    for (int i = 0; i < ALL; ++i) check(&all[i]);
  }
  for (int i = 0; i < ALL && persistent; ++i) MPI_Request_free(&requests[i]);
  for (int i = 0; i < ALL; ++i) unmake(&all[i]);
  MPI_Comm_free(&comms[2]), MPI_Comm_free(&comms[1]);
}

/* Rank 0 sends only when its exchange is complete: what rank 1 has started must go on while it waits for that. */
static void blocked(int rounds) {
  Exchange x;
  MPI_Request request;
  make(&x, UNEQUAL, MPI_COMM_WORLD);
  for (int round = 0; round < rounds; ++round) {
    fill(&x, round), start(&x, 0, &request);
    int token = world_rank;
    if (world_rank > 0) MPI_Recv(&token, 1, MPI_INT, world_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (world_rank + 1 < world_ranks) MPI_Send(&token, 1, MPI_INT, world_rank + 1, 0, MPI_COMM_WORLD);
    check(&x);
  }
  unmake(&x);
  /* Nor may the start wait for the others, the first one on a communicator neither. */
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  make(&x, EQUAL, comm);
  fill(&x, 0);
  int token = 0;
  if (world_rank > 0) MPI_Recv(&token, 1, MPI_INT, world_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  start(&x, 0, &request);
  MPI_Comm other; /* which MPI may make while that lane waits for the others */
  MPI_Comm_dup(MPI_COMM_SELF, &other), MPI_Comm_free(&other);
  if (world_rank + 1 < world_ranks) MPI_Send(&token, 1, MPI_INT, world_rank + 1, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(&x), unmake(&x);
  MPI_Comm_free(&comm);
}

/* Open MPI's own of the first exchange does not survive what follows in freed() and mistaken(); nor is it ours there before
 * the ranks have met after one. */
static void acquaint(MPI_Comm comm) {
  MPI_Request request;
  for (int kind = EQUAL; kind <= TYPED; ++kind) {
    Exchange x;
    make(&x, kind, comm), fill(&x, 0), start(&x, 0, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(&x), unmake(&x);
  }
  MPI_Barrier(comm);
}

static void freed(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    Exchange all[KINDS];
    MPI_Request requests[KINDS];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    acquaint(comm);
    for (int i = 0; i < KINDS; ++i) make(&all[i], i, comm), fill(&all[i], round), start(&all[i], 0, &requests[i]);
    MPI_Comm_free(&comm);
    complete(round, KINDS, requests);
    for (int i = 0; i < KINDS; ++i) check(&all[i]), unmake(&all[i]);
  }
}

/* Every rank receives one element less than it is sent; then what is right is right again. */
static void mistaken(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  acquaint(comm);
  Exchange x;
  MPI_Request request;
  make(&x, UNEQUAL, comm);
  for (int peer = 0; peer < x.ranks; ++peer) x.counts[peer] = 4, x.in_counts[peer] = 3, x.places[peer] = peer * STRIDE;
  MPI_Ialltoallv(x.out, x.counts, x.places, MPI_INT, x.in, x.in_counts, x.places, MPI_INT, comm, &request);
  const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  int class = MPI_SUCCESS;
  MPI_Error_class(error, &class);
  wrong += class != MPI_ERR_TRUNCATE;
  fill(&x, 1), start(&x, 0, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(&x), unmake(&x);
  MPI_Comm_free(&comm);
}

/* Without a thread they never are: what rank 0 sends later waits for its calls. */
static void aside(const char *file) {
  Exchange x;
  MPI_Request request;
  MPI_Comm others;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, world_rank, &others);
  acquaint(MPI_COMM_WORLD);
  make(&x, EQUAL, MPI_COMM_WORLD), fill(&x, 1), start(&x, 0, &request);
  if (world_rank > 0) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(others);
    if (world_rank == 1) fclose(fopen(file, "w"));
  } else {
    int looks = 0;
    while (access(file, F_OK) && ++looks < MOST_LOOKS) usleep(1000);
    wrong += looks == MOST_LOOKS;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  check(&x), unmake(&x);
  MPI_Comm_free(&others);
}

static int ends(MPI_Comm comm, int key, void *ended, void *extra) {
  (void)comm, (void)key, (void)extra;
  return ++*(int *)ended, MPI_SUCCESS;
}

static void ended(int rounds) {
  const int cyclic = 1;
  int key, number = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ends, &key, NULL);
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm comm, ring;
    MPI_Request requests[2];
    Exchange x;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_ranks, &cyclic, 0, &ring);
    MPI_Comm_set_attr(comm, key, &number), MPI_Comm_set_attr(ring, key, &number);
    int left, right, out[2] = {2 * world_rank, 2 * world_rank + 1}, in[2] = {POISON, POISON};
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    make(&x, EQUAL, comm), fill(&x, round), start(&x, 0, &requests[0]);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(&x), unmake(&x);
    MPI_Comm_free(&comm), MPI_Comm_free(&ring);
    wrong += number != 2 * (round + 1) || in[0] != 2 * left + 1 || in[1] != 2 * right;
  }
  MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv) {
  int provided, all_wrong = 0;
  if (strcmp(argv[1], "single") == 0) MPI_Init(&argc, &argv);
  else MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  const char *mode = argv[2];
  const int rounds = argc > 3 ? atoi(argv[3]) : 8;
  if (strcmp(mode, "mixed") == 0) mixed(0, rounds);
  if (strcmp(mode, "persistent") == 0 && HAS_PERSISTENT) mixed(1, rounds);
  if (strcmp(mode, "blocked") == 0) blocked(rounds);
  if (strcmp(mode, "freed") == 0) freed(rounds);
  if (strcmp(mode, "ended") == 0) ended(rounds);
  if (strcmp(mode, "aside") == 0) aside(argv[3]);
  if (strcmp(mode, "wrong") == 0) mistaken();
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (world_rank == 0) printf(all_wrong ? "nonblocking: %d wrong\n" : "nonblocking: right\n", all_wrong);
  MPI_Finalize();
  return 0;
}
