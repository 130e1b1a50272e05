/* Exchanges with the neighbours of all kinds of virtual topologies, against an oracle: which block of one rank is which of
   another follows from the lists of neighbours that MPI returns, as MPI-4.1, 8.6 matches them. Receive buffers are poisoned,
   and compared as a whole with what they must be; send buffers must stay as they were. Arrays and buffers end where memory
   ends (tests/conformance/guarded.h).

   Words: seed=N, rounds=N, forms=[b][l][i][p] (blocking, large counts, non-blocking, persistent), only=NAME. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guarded.h"

enum { GUARD = 64, MOST_BLOCKS = 96, MOST_RANKS = 64, POISON = 0xA5 };
enum { DENSE, GAPS, LAYOUTS };
enum { EQUAL, VARYING, TYPED, KINDS };
static const char *const kinds[] = {"alltoall", "alltoallv", "alltoallw"};

#define HAS_LARGE (MPI_VERSION >= 4)
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

static int world_rank, world_ranks, topologies, calls, all_calls, failures;
static const char *forms = "blip", *only = "";
static unsigned rounds = 2;
static MPI_Datatype types[LAYOUTS]; /* two ints each: side by side, or 12 bytes apart */
static const int extents[LAYOUTS] = {8, 20}, second[LAYOUTS] = {4, 12};

static uint32_t mixed(uint32_t a, uint32_t b) {
  uint32_t x = a * 0x9E3779B1u + b * 0x85EBCA77u + 0x165667B1u;
  x = (x ^ (x >> 15)) * 0x2C1B3C6Du;
  x = (x ^ (x >> 12)) * 0x297A2D39u;
  return x ^ (x >> 15);
}

static uint32_t state;
static int below(int n) {
  state = mixed(state, 17);
  return (int)(state % (uint32_t)n);
}

/* --- what is exchanged -------------------------------------------------------------------------------------------------- */

typedef struct {
  int out, in, grid;
  int to[MOST_BLOCKS], from[MOST_BLOCKS];
} Lists;

typedef struct {
  const char *name;
  MPI_Comm comm;
  int rank, ranks;
  Lists all[MOST_RANKS];
} Topology;

typedef struct {
  int blocks;
  int counts[MOST_BLOCKS], layouts[MOST_BLOCKS];
  MPI_Aint begins[MOST_BLOCKS]; /* bytes */
  MPI_Aint bytes;
} Side;

/* Elements of block `block` that rank `source` sends in a call: none, few, many. */
static int elements_of(uint32_t call, int source, int block) {
  static const int sizes[] = {0, 1, 1, 2, 3, 5, 40, 0, 700, 2600};
  const uint32_t drawn = mixed(call, (uint32_t)(source * MOST_BLOCKS + block));
  return sizes[drawn % (drawn % 7 == 0 ? 10 : 8)];
}

static int value_of(uint32_t call, int source, int block, int i) {
  return (int)mixed(call * 31 + (uint32_t)source, (uint32_t)(block * 100003 + i));
}

static void write_block(char *at, int layout, int elements, uint32_t call, int source, int block) {
  for (int i = 0; i < elements; ++i, at += extents[layout]) {
    const int values[2] = {value_of(call, source, block, 2 * i), value_of(call, source, block, 2 * i + 1)};
    memcpy(at, &values[0], sizeof(int));
    memcpy(at + second[layout], &values[1], sizeof(int));
  }
}

/* The block of its source that is received as block `b` of `rank`; -1: from nobody. */
static int sent_as(const Topology *topology, int rank, int b) {
  const Lists *const mine = &topology->all[rank];
  if (mine->from[b] < 0) return -1;
  if (mine->grid) return b ^ 1;
  int before = 0;
  for (int i = 0; i < b; ++i) before += mine->from[i] == mine->from[b];
  const Lists *const theirs = &topology->all[mine->from[b]];
  for (int s = 0; s < theirs->out; ++s)
    if (theirs->to[s] == rank && before-- == 0) return s;
  fprintf(stderr, "neighbours: the lists of %s differ\n", topology->name);
  MPI_Abort(MPI_COMM_WORLD, 2);
  return -1;
}

static void lay(Side *side, int kind, uint32_t drawn) {
  side->bytes = 0;
  for (int b = 0; b < side->blocks; ++b) {
    side->layouts[b] = (int)(kind == TYPED ? mixed(drawn, (uint32_t)b) : drawn) % LAYOUTS;
    if (side->layouts[b] < 0) side->layouts[b] += LAYOUTS;
  }
  for (int i = 0; i < side->blocks;
       ++i) { /* the last first, with gaps; in displacements of whole elements, but for bytes */
    const int b = kind == EQUAL ? i : side->blocks - 1 - i, extent = extents[side->layouts[b]];
    const MPI_Aint unit = kind == TYPED ? 4 : extent;
    side->begins[b] = (side->bytes + unit - 1) / unit * unit + (kind == EQUAL ? 0 : unit);
    if (kind == EQUAL) side->begins[b] = (MPI_Aint)i * side->counts[b] * extent;
    side->bytes = side->begins[b] + (MPI_Aint)side->counts[b] * extent;
  }
}

/* --- calls -------------------------------------------------------------------------------------------------------------- */

/* Arrays of as many entries as there are blocks, each of which ends where memory ends. */
typedef struct {
  int count;         /* of MPI_Neighbor_alltoall */
  MPI_Datatype type; /* of all blocks, but for MPI_Neighbor_alltoallw */
  int *counts, *elements;
  MPI_Aint *bytes;
#if HAS_LARGE
  MPI_Count *large_counts;
  MPI_Aint *large_elements;
#endif
  MPI_Datatype *types;
} Arguments;

#define ARRAY(array, blocks) ((array) = guarded_allocate((size_t)(blocks) * sizeof *(array), GUARDED_END))

static Arguments describe(const Side *side, int count) {
  Arguments to = {.count = count, .type = types[side->blocks > 0 ? side->layouts[0] : DENSE]};
  ARRAY(to.counts, side->blocks), ARRAY(to.elements, side->blocks), ARRAY(to.bytes, side->blocks);
  ARRAY(to.types, side->blocks);
#if HAS_LARGE
  ARRAY(to.large_counts, side->blocks), ARRAY(to.large_elements, side->blocks);
#endif
  for (int b = 0; b < side->blocks; ++b) {
    to.counts[b] = side->counts[b];
    to.types[b] = types[side->layouts[b]];
    to.elements[b] = (int)(side->begins[b] / extents[side->layouts[b]]);
    to.bytes[b] = side->begins[b];
#if HAS_LARGE
    to.large_counts[b] = side->counts[b];
    to.large_elements[b] = to.elements[b];
#endif
  }
  return to;
}

static void free_arrays(Arguments *arguments) {
  guarded_free(arguments->counts), guarded_free(arguments->elements), guarded_free(arguments->bytes);
  guarded_free(arguments->types);
#if HAS_LARGE
  guarded_free(arguments->large_counts), guarded_free(arguments->large_elements);
#endif
}

static void complete(MPI_Request *request, char form) {
  if (form == 'i') MPI_Wait(request, MPI_STATUS_IGNORE);
  if (form != 'p') return;
  for (int i = 0; i < 2; ++i) {
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(request);
}

static void exchange(int kind, char form, const char *out, const Arguments *s, char *in, const Arguments *r,
                     MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Datatype sent = s->type, received = r->type;
  const int send_count = s->count, receive_count = r->count;
  if (form == 'b' && kind == EQUAL) MPI_Neighbor_alltoall(out, send_count, sent, in, receive_count, received, comm);
  if (form == 'b' && kind == VARYING)
    MPI_Neighbor_alltoallv(out, s->counts, s->elements, sent, in, r->counts, r->elements, received, comm);
  if (form == 'b' && kind == TYPED)
    MPI_Neighbor_alltoallw(out, s->counts, s->bytes, s->types, in, r->counts, r->bytes, r->types, comm);
  if (form == 'i' && kind == EQUAL)
    MPI_Ineighbor_alltoall(out, send_count, sent, in, receive_count, received, comm, &request);
  if (form == 'i' && kind == VARYING)
    MPI_Ineighbor_alltoallv(out, s->counts, s->elements, sent, in, r->counts, r->elements, received, comm, &request);
  if (form == 'i' && kind == TYPED)
    MPI_Ineighbor_alltoallw(out, s->counts, s->bytes, s->types, in, r->counts, r->bytes, r->types, comm, &request);
#if HAS_LARGE
  if (form == 'l' && kind == EQUAL) MPI_Neighbor_alltoall_c(out, send_count, sent, in, receive_count, received, comm);
  if (form == 'l' && kind == VARYING)
    MPI_Neighbor_alltoallv_c(out, s->large_counts, s->large_elements, sent, in, r->large_counts, r->large_elements,
                             received, comm);
  if (form == 'l' && kind == TYPED)
    MPI_Neighbor_alltoallw_c(out, s->large_counts, s->bytes, s->types, in, r->large_counts, r->bytes, r->types, comm);
#endif
#if HAS_PERSISTENT
  if (form == 'p' && kind == EQUAL)
    MPI_Neighbor_alltoall_init(out, send_count, sent, in, receive_count, received, comm, MPI_INFO_NULL, &request);
  if (form == 'p' && kind == VARYING)
    MPI_Neighbor_alltoallv_init(out, s->counts, s->elements, sent, in, r->counts, r->elements, received, comm,
                                MPI_INFO_NULL, &request);
  if (form == 'p' && kind == TYPED)
    MPI_Neighbor_alltoallw_init(out, s->counts, s->bytes, s->types, in, r->counts, r->bytes, r->types, comm,
                                MPI_INFO_NULL, &request);
#endif
  complete(&request, form);
}

/* A guard before the first block; the last one ends where memory ends. */
static char *buffer_of(const Side *side) {
  char *const memory = guarded_allocate((size_t)side->bytes + GUARD, GUARDED_END);
  memset(memory, POISON, (size_t)side->bytes + GUARD);
  return memory;
}

static void check(const Topology *topology, int kind, char form, const char *found, const char *expected,
                  const Side *side, const char *what) {
  const size_t all = (size_t)side->bytes + GUARD;
  if (memcmp(found, expected, all) == 0) return;
  size_t i = 0;
  while (found[i] == expected[i]) ++i;
  if (++failures <= 4)
    printf("neighbours: %s, %s (%c), rank %d of %d: the %s buffer differs at byte %ld of %ld\n", topology->name,
           kinds[kind], form, topology->rank, topology->ranks, what, (long)i - GUARD, (long)side->bytes);
}

static void call(const Topology *topology, int kind, char form) {
  const uint32_t number = (uint32_t)(topologies * 1000 + ++calls);
  const Lists *const mine = &topology->all[topology->rank];
  Side out = {.blocks = mine->out}, in = {.blocks = mine->in};
  for (int b = 0; b < out.blocks; ++b)
    out.counts[b] = kind == EQUAL ? elements_of(number, 0, 0) : elements_of(number, topology->rank, b);
  for (int b = 0; b < in.blocks; ++b) {
    const int sent = sent_as(topology, topology->rank, b);
    in.counts[b] = kind == EQUAL ? elements_of(number, 0, 0) : sent < 0 ? 3 : elements_of(number, mine->from[b], sent);
  }
  lay(&out, kind, mixed(number, (uint32_t)topology->rank) >> 3);
  lay(&in, kind, mixed(number, (uint32_t)topology->rank + 1000) >> 3);
  char *const send = buffer_of(&out), *const sent_before = buffer_of(&out);
  char *const receive = buffer_of(&in), *const expected = buffer_of(&in);
  for (int b = 0; b < out.blocks; ++b) {
    write_block(send + GUARD + out.begins[b], out.layouts[b], out.counts[b], number, topology->rank, b);
    write_block(sent_before + GUARD + out.begins[b], out.layouts[b], out.counts[b], number, topology->rank, b);
  }
  for (int b = 0; b < in.blocks; ++b) {
    const int sent = sent_as(topology, topology->rank, b);
    if (sent >= 0)
      write_block(expected + GUARD + in.begins[b], in.layouts[b], in.counts[b], number, mine->from[b], sent);
  }
  Arguments s = describe(&out, elements_of(number, 0, 0)), r = describe(&in, elements_of(number, 0, 0));
  exchange(kind, form, send + GUARD, &s, receive + GUARD, &r, topology->comm);
  check(topology, kind, form, receive, expected, &in, "receive");
  check(topology, kind, form, send, sent_before, &out, "send");
  free_arrays(&s), free_arrays(&r);
  guarded_free(send), guarded_free(sent_before), guarded_free(receive), guarded_free(expected);
}

/* --- topologies --------------------------------------------------------------------------------------------------------- */

static void ask(Topology *topology) {
  Lists *const mine = &topology->all[topology->rank];
  int kind = MPI_UNDEFINED, weighted = 0, weights[2][MOST_BLOCKS];
  MPI_Topo_test(topology->comm, &kind);
  memset(mine, 0, sizeof *mine);
  if (kind == MPI_CART) {
    int dimensions = 0;
    MPI_Cartdim_get(topology->comm, &dimensions);
    for (int d = 0; d < dimensions; ++d) MPI_Cart_shift(topology->comm, d, 1, &mine->to[2 * d], &mine->to[2 * d + 1]);
    mine->out = mine->in = 2 * dimensions;
    mine->grid = 1;
    memcpy(mine->from, mine->to, sizeof mine->from);
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(topology->comm, topology->rank, &mine->out);
    MPI_Graph_neighbors(topology->comm, topology->rank, mine->out, mine->to);
    mine->in = mine->out;
    memcpy(mine->from, mine->to, sizeof mine->from);
  } else {
    MPI_Dist_graph_neighbors_count(topology->comm, &mine->in, &mine->out, &weighted);
    MPI_Dist_graph_neighbors(topology->comm, mine->in, mine->from, weights[0], mine->out, mine->to, weights[1]);
  }
  for (int b = 0; b < MOST_BLOCKS; ++b) {
    if (mine->to[b] == MPI_PROC_NULL) mine->to[b] = -1;
    if (mine->from[b] == MPI_PROC_NULL) mine->from[b] = -1;
  }
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, topology->all, sizeof *mine, MPI_BYTE, topology->comm);
}

static void try_on(const char *name, MPI_Comm comm) {
  static Topology topology;
  ++topologies; /* the same on all ranks */
  if (comm == MPI_COMM_NULL) return;
  topology.name = name;
  topology.comm = comm;
  MPI_Comm_rank(comm, &topology.rank);
  MPI_Comm_size(comm, &topology.ranks);
  ask(&topology);
  all_calls += calls;
  calls = 0;
  for (unsigned round = 0; round < rounds; ++round)
    for (const char *form = forms; *form; ++form)
      for (int kind = 0; kind < KINDS; ++kind)
        if ((*form != 'l' || HAS_LARGE) && (*form != 'p' || HAS_PERSISTENT)) call(&topology, kind, *form);
  MPI_Comm_free(&comm);
}

static int wanted(const char *name) { return strncmp(name, only, strlen(only)) == 0; }

static void try_grid(const char *name, int dimensions, const int *sizes, int periods) {
  int dims[4] = {0}, periodic[4], product = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  if (!wanted(name)) return;
  for (int d = 0; d < dimensions; ++d) {
    periodic[d] = periods >> d & 1;
    dims[d] = sizes ? sizes[d] : 0;
    product *= dims[d] ? dims[d] : 1;
  }
  if (product > world_ranks) return;
  if (!sizes) MPI_Dims_create(world_ranks, dimensions, dims);
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periodic, 0, &comm);
  try_on(name, comm);
}

static void try_grids(void) {
  try_grid("grid of one dimension, periodic", 1, NULL, 1);
  try_grid("grid of one dimension, open", 1, NULL, 0);
  try_grid("grid of two dimensions, periodic", 2, NULL, 3);
  try_grid("grid of two dimensions, one periodic", 2, NULL, 2);
  try_grid("grid of three dimensions, periodic", 3, NULL, 7);
  try_grid("grid of four dimensions, periodic", 4, NULL, 15);
  try_grid("grid 1xP, periodic", 2, (int[]){1, world_ranks}, 3);
  try_grid("grid Px1x1, periodic", 3, (int[]){world_ranks, 1, 1}, 7);
  try_grid("grid 1xPx1, open between two that are periodic", 3, (int[]){1, world_ranks, 1}, 5);
  try_grid("grid 2, periodic", 1, (int[]){2}, 1);
  try_grid("grid 2x2, periodic", 2, (int[]){2, 2}, 3);
  try_grid("grid 3x1, of some ranks", 2, (int[]){3, 1}, 3);
}

/* edges[a][b]: how many from a to b. */
static unsigned char edges[MOST_RANKS][MOST_RANKS];

static void draw_edges(int symmetric, int percent, int most) {
  memset(edges, 0, sizeof edges);
  for (int a = 0; a < world_ranks; ++a)
    for (int b = 0; b < world_ranks; ++b)
      if (below(100) < percent) edges[a][b] = (unsigned char)(1 + below(most));
  for (int a = 0; symmetric && a < world_ranks; ++a)
    for (int b = 0; b < a; ++b) edges[a][b] = edges[b][a];
}

static int list_of(int rank, int outgoing, int *list, int shuffled) {
  int count = 0;
  for (int other = 0; other < world_ranks; ++other)
    for (int i = 0; i < (outgoing ? edges[rank][other] : edges[other][rank]); ++i)
      if (count < MOST_BLOCKS) list[count++] = other;
  const uint32_t before = state;
  state = mixed(state, (uint32_t)(2 * rank + outgoing));
  for (int i = count; shuffled && i > 1; --i) {
    const int k = below(i), one = list[i - 1];
    list[i - 1] = list[k];
    list[k] = one;
  }
  state = before;
  return count;
}

static void try_distributed(const char *name) {
  int to[MOST_BLOCKS + 1] = {0}, from[MOST_BLOCKS + 1] = {0}, weights[MOST_BLOCKS + 1] = {0};
  MPI_Comm comm = MPI_COMM_NULL;
  if (!wanted(name)) return;
  const int out = list_of(world_rank, 1, to, 1), in = list_of(world_rank, 0, from, 1);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, weights, out, to, weights, MPI_INFO_NULL, 0, &comm);
  try_on(name, comm);
}

/* Each rank says of its neighbour what edges that has. */
static void try_general(const char *name) {
  int to[MOST_BLOCKS + 1] = {0}, source = (world_rank + 1) % world_ranks, weights[MOST_BLOCKS + 1];
  MPI_Comm comm = MPI_COMM_NULL;
  if (!wanted(name)) return;
  const int degree = list_of(source, 1, to, 1);
  for (int i = 0; i <= degree; ++i) weights[i] = 1 + i;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, to, weights, MPI_INFO_NULL, 0, &comm);
  try_on(name, comm);
}

static void try_graph(const char *name) {
  int index[MOST_RANKS], all = 0;
  static int lists[MOST_RANKS * MOST_BLOCKS + 1];
  MPI_Comm comm = MPI_COMM_NULL;
  if (!wanted(name)) return;
  for (int r = 0; r < world_ranks; ++r) index[r] = all += list_of(r, 1, lists + all, 1);
  MPI_Graph_create(MPI_COMM_WORLD, world_ranks, index, lists, 0, &comm);
  try_on(name, comm);
}

static void try_graphs(void) {
  memset(edges, 0, sizeof edges);
  try_distributed("distributed graph without edges");
  for (int r = 0; r < world_ranks; ++r) edges[r][r] = 3;
  try_distributed("distributed graph, three edges of each rank to itself");
  memset(edges, 0, sizeof edges);
  for (int r = 0; r < world_ranks; ++r) edges[r][(r + 1) % world_ranks] = 2;
  try_distributed("distributed graph, ring one way, twice");
  memset(edges, 0, sizeof edges);
  for (int r = 0; r < world_ranks; ++r) edges[0][r] = 1, edges[r][world_ranks - 1] = 1;
  try_distributed("distributed graph, from the first, to the last");
  draw_edges(0, 100, 1);
  try_distributed("distributed graph, all to all");
  for (unsigned i = 0; i < rounds; ++i) {
    draw_edges(0, 20 + below(60), 1);
    try_distributed("distributed graph, random");
    draw_edges(0, 20 + below(60), 3);
    try_distributed("distributed graph, random with duplicates");
    draw_edges(0, 40, 3);
    try_general("distributed graph, described by others");
    draw_edges(1, 50, 1);
    try_graph("graph, random");
    draw_edges(1, 50, 3);
    try_graph("graph, random with duplicates");
  }
}

/* Arguments that MPI refuses are refused, in its own words. */
static void check_refusals(void) {
  int sent[2] = {0}, received[2] = {0}, counts[2] = {-1, 1}, places[2] = {0, 1}, periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL, plain = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_ranks, &periodic, 0, &ring);
  MPI_Comm_dup(MPI_COMM_WORLD, &plain);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* where Open MPI raises what has no other place */
  const int errors[] = {MPI_Neighbor_alltoall(sent, -1, MPI_INT, received, 1, MPI_INT, ring),
                        MPI_Neighbor_alltoall(sent, 1, MPI_DATATYPE_NULL, received, 1, MPI_INT, ring),
                        MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, received, counts, places, MPI_INT, ring),
                        MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, plain)};
  for (int i = 0; i < (int)(sizeof errors / sizeof *errors); ++i)
    if (errors[i] == MPI_SUCCESS) ++failures, printf("neighbours: mistake %d is not refused\n", i);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&plain);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "seed=", 5) == 0) state = (uint32_t)atoi(argv[i] + 5);
    if (strncmp(argv[i], "rounds=", 7) == 0) rounds = (unsigned)atoi(argv[i] + 7);
    if (strncmp(argv[i], "forms=", 6) == 0) forms = argv[i] + 6;
    if (strncmp(argv[i], "only=", 5) == 0) only = argv[i] + 5;
  }
  MPI_Datatype apart;
  MPI_Type_contiguous(2, MPI_INT, &types[DENSE]);
  MPI_Type_vector(2, 1, 3, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, extents[GAPS], &types[GAPS]);
  MPI_Type_commit(&types[DENSE]);
  MPI_Type_commit(&types[GAPS]);
  MPI_Type_free(&apart);
  try_grids();
  try_graphs();
  check_refusals();
  for (int i = 0; i < LAYOUTS; ++i) MPI_Type_free(&types[i]);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) printf("neighbours: %d calls, %d wrong\n", all_calls + calls, failures);
  MPI_Finalize();
  return failures != 0;
}
