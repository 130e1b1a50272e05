/* freed_types MODE: all-to-alls of every form whose derived types are freed while MPI still needs them: after a start, or
 * between the making of a persistent request and its starts. Then other types are made, which may get their memory. Checks
 * every answer. In those of a type for each block, some blocks have no data, and a type that no other block has. MODE:
 *   free      persistent requests are freed
 *   keep      they are left to MPI_Finalize
 *   session   free, on a communicator of a session, without MPI_Init
 * Prints "freed_types: right", and by rank 0 how many attributes of the types of persistent requests were copied, how many are
 * still there in the end, and how many persistent requests on all ranks had lost the type of the blocks without data. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 16, MOST_INTS = 40000, OTHERS = 200, STARTS = 3, GAP = -7, POISON = -1 };
enum { EQUAL, UNEQUAL, TYPED, KINDS };
enum { ALL, INTER, NEIGHBOURS, WITH };
static const char *const kinds[] = {"", "v", "w"}, *const groups[] = {"all", "another group", "neighbours"};

/* Of each communicator: the ranks of the blocks are first, first + 1, ... */
typedef struct {
  MPI_Comm comm;
  int with, first, blocks;
} Peers;

/* Attributes of types. */
typedef struct {
  int key, copied, there;
} Attributes;

static Attributes any_type, empty_type;
static int rank, ranks, lost;
static int from[2 * MOST_INTS * MOST_RANKS], to[2 * MOST_INTS * MOST_RANKS];
static struct {
  int ones[MOST_RANKS], places[MOST_RANKS], offsets[MOST_RANKS];
  MPI_Aint far[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
} each;

static int value(int source, int destination, int k, int round) {
  return 1000000 * round + 10000 * source + 100 * destination + k % 97;
}

static int copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *copies) {
  Attributes *const attributes = extra;
  (void)type, (void)keyval, (void)in, (void)out;
  return ++attributes->copied, ++attributes->there, *copies = 1, MPI_SUCCESS;
}

static int delete(MPI_Datatype type, int keyval, void *value_of_it, void *extra) {
  Attributes *const attributes = extra;
  (void)type, (void)keyval, (void)value_of_it;
  return --attributes->there, MPI_SUCCESS;
}

static void attach(MPI_Datatype type, Attributes *attributes) {
  MPI_Type_set_attr(type, attributes->key, NULL);
  ++attributes->there;
}

static void must(int right, const Peers *peers, int kind, int persistent, const char *what) {
  if (right) return;
  fprintf(stderr, "freed_types: rank %d, %salltoall%s with %s: wrong %s\n", rank, persistent ? "persistent " : "i",
          kinds[kind], groups[peers->with], what);
  abort();
}

/* `ints` of them, each with a gap behind it. */
static MPI_Datatype gapped(int ints) {
  MPI_Datatype apart, type;
  MPI_Type_vector(ints, 1, 2, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, 2 * ints * (MPI_Aint)sizeof(int), &type);
  MPI_Type_free(&apart);
  MPI_Type_commit(&type);
  attach(type, &any_type);
  return type;
}

/* The i-th of the blocks, in both directions alike. */
static int is_empty(const Peers *peers, int kind, int i) { return kind == TYPED && (rank + peers->first + i) % 3 == 2; }

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#define START(Init, Start, ...)                                                     \
  (persistent ? MPI_##Init##_init(__VA_ARGS__, peers->comm, MPI_INFO_NULL, request) \
              : MPI_##Start(__VA_ARGS__, peers->comm, request))
#else
#define HAS_PERSISTENT 0
#define START(Init, Start, ...) MPI_##Start(__VA_ARGS__, peers->comm, request)
#endif

static void start(const Peers *peers, int kind, int persistent, int ints, MPI_Request *request) {
  MPI_Datatype one = gapped(ints), other = gapped(ints), empty = gapped(ints);
  int *const ones = each.ones, *const places = each.places, *const offsets = each.offsets;
  int empties = 0;
  attach(empty, &empty_type);
  for (int i = 0; i < peers->blocks; ++i) {
    const int is = is_empty(peers, kind, i);
    empties += is;
    ones[i] = !is, places[i] = i, each.far[i] = offsets[i] = 2 * i * ints * (int)sizeof(int);
    each.types[i] = is ? empty : i % 3 == 1 ? other : one;
  }
  if (peers->with == NEIGHBOURS) {
    if (kind == EQUAL) START(Neighbor_alltoall, Ineighbor_alltoall, from, 1, one, to, 1, other);
    if (kind == UNEQUAL)
      START(Neighbor_alltoallv, Ineighbor_alltoallv, from, ones, places, one, to, ones, places, other);
    if (kind == TYPED)
      START(Neighbor_alltoallw, Ineighbor_alltoallw, from, ones, each.far, each.types, to, ones, each.far, each.types);
  } else {
    if (kind == EQUAL) START(Alltoall, Ialltoall, from, 1, one, to, 1, other);
    if (kind == UNEQUAL) START(Alltoallv, Ialltoallv, from, ones, places, one, to, ones, places, other);
    if (kind == TYPED) START(Alltoallw, Ialltoallw, from, ones, offsets, each.types, to, ones, offsets, each.types);
  }
  MPI_Type_free(&one);
  MPI_Type_free(&other);
  const int before = empty_type.there;
  MPI_Type_free(&empty);
  if (persistent) lost += empties > 0 && empty_type.there < before;
}

static void fill(const Peers *peers, int ints, int round) {
  for (int i = 0; i < peers->blocks * ints; ++i) {
    from[2 * i] = value(rank, peers->first + i / ints, i % ints, round), from[2 * i + 1] = POISON;
    to[2 * i] = POISON, to[2 * i + 1] = GAP;
  }
}

static void exchange(const Peers *peers, int kind, int persistent, int ints, int kept) {
  MPI_Datatype others[OTHERS];
  MPI_Request request;
  fill(peers, ints, 0);
  start(peers, kind, persistent, ints, &request);
  for (int i = 0; i < OTHERS; ++i) MPI_Type_vector(1 + i % 3, 1, 5, MPI_CHAR, &others[i]), MPI_Type_commit(&others[i]);
  for (int round = 0; round < (persistent ? STARTS : 1); ++round) {
    if (persistent) fill(peers, ints, round), MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < peers->blocks * ints; ++i) {
      const int block = i / ints, sent = value(peers->first + block, rank, i % ints, round);
      const int right = is_empty(peers, kind, block) ? POISON : sent;
      must(to[2 * i] == right, peers, kind, persistent, "data");
      must(to[2 * i + 1] == GAP, peers, kind, persistent, "gap");
    }
  }
  if (persistent && !kept) MPI_Request_free(&request);
  for (int i = 0; i < OTHERS; ++i) MPI_Type_free(&others[i]);
}

static void exchanges(const Peers *peers, int persistent, int kept) {
  const int ints[] = {3, 300, MOST_INTS};
  for (int kind = EQUAL; kind < KINDS; ++kind)
    for (int i = 0; i < 3; ++i) exchange(peers, kind, persistent, ints[i], kept);
}

/* Two groups of `world`; nothing if there is but one rank. */
static Peers another_group(MPI_Comm world) {
  const int half = ranks / 2, low = rank < half;
  Peers peers = {MPI_COMM_NULL, INTER, low ? half : 0, low ? ranks - half : half};
  MPI_Comm mine;
  MPI_Comm_split(world, low, rank, &mine);
  if (ranks > 1) MPI_Intercomm_create(mine, 0, world, low ? half : 0, 0, &peers.comm);
  MPI_Comm_free(&mine);
  return peers;
}

/* All of `world`, in order. */
static Peers neighbours(MPI_Comm world) {
  Peers peers = {MPI_COMM_NULL, NEIGHBOURS, 0, ranks};
  int everybody[MOST_RANKS], weights[MOST_RANKS];
  for (int i = 0; i < ranks; ++i) everybody[i] = i, weights[i] = 1;
  MPI_Dist_graph_create_adjacent(world, ranks, everybody, weights, ranks, everybody, weights, MPI_INFO_NULL, 0,
                                 &peers.comm);
  return peers;
}

static void run(MPI_Comm world, int kept) {
  MPI_Comm_rank(world, &rank), MPI_Comm_size(world, &ranks);
  lost = 0;
  MPI_Type_create_keyval(copy, delete, &any_type.key, &any_type);
  MPI_Type_create_keyval(copy, delete, &empty_type.key, &empty_type);
  Peers with[WITH] = {{world, ALL, 0, ranks}, another_group(world), neighbours(world)};
  for (int persistent = 0; persistent <= HAS_PERSISTENT; ++persistent) {
    any_type.copied = any_type.there = empty_type.there = 0;
    for (int i = 0; i < WITH; ++i)
      if (with[i].comm != MPI_COMM_NULL) exchanges(&with[i], persistent, kept);
  }
  int all_lost = 0;
  MPI_Reduce(&lost, &all_lost, 1, MPI_INT, MPI_SUM, 0, world);
  if (rank == 0)
    printf("%d copied, %d there, %d lost\nfreed_types: right\n", any_type.copied, any_type.there, all_lost);
  for (int i = 1; i < WITH; ++i)
    if (with[i].comm != MPI_COMM_NULL) MPI_Comm_free(&with[i].comm);
}

int main(int argc, char **argv) {
  const char *const mode = argc > 1 ? argv[1] : "";
#if HAS_PERSISTENT
  if (strcmp(mode, "session") == 0) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm world;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "freed types", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &world);
    run(world, 0);
    MPI_Comm_free(&world);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
  }
#endif
  MPI_Init(&argc, &argv);
  run(MPI_COMM_WORLD, strcmp(mode, "keep") == 0);
  MPI_Finalize();
  return 0;
}
