/* What MPI says of all-to-alls among the neighbours of virtual topologies (standard.h). */
#include "standard.h"

enum { MOST = 130 };

/* The neighbours of this rank on a communicator, in the order of blocks, by rank there; MPI_PROC_NULL: none, but a block. */
typedef struct {
  MPI_Comm comm;
  int me, in, out, from[MOST], to[MOST], from_slot[MOST];
} Around;

/* Every call of the three kinds and forms. What comes from a neighbour says from which of its blocks: `slot` finds that. */
static void exchange_around(const Around *a, int kind, int form, int round) {
  int out[MOST * ROOM], in[MOST * ROOM], outs[MOST], ins[MOST], out_places[MOST], in_places[MOST];
  MPI_Aint out_bytes[MOST], in_bytes[MOST];
  MPI_Datatype types[MOST];
  MPI_Request request = MPI_REQUEST_NULL;
  const int width = kind == EQUAL ? 3 : ROOM;
  for (int i = 0; i < MOST * ROOM; ++i) out[i] = in[i] = POISON;
  for (int i = 0; i < MOST; ++i) {
    types[i] = MPI_INT, out_places[i] = in_places[i] = i * width;
    out_bytes[i] = in_bytes[i] = i * width * (MPI_Aint)sizeof(int), outs[i] = ins[i] = 0;
  }
  for (int i = 0; i < a->out; ++i) {
    outs[i] = kind == EQUAL ? 3 : a->to[i] == MPI_PROC_NULL ? 2 : (a->me + a->to[i] + round) % 4;
    for (int k = 0; k < width; ++k) out[i * width + k] = block_value(round, a->me, i, k);
  }
  for (int i = 0; i < a->in; ++i)
    ins[i] = kind == EQUAL ? 3 : a->from[i] == MPI_PROC_NULL ? 2 : (a->me + a->from[i] + round) % 4;
  if (form == BLOCKING && kind == EQUAL) MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, a->comm);
  if (form == BLOCKING && kind == VARYING)
    MPI_Neighbor_alltoallv(out, outs, out_places, MPI_INT, in, ins, in_places, MPI_INT, a->comm);
  if (form == BLOCKING && kind == TYPED)
    MPI_Neighbor_alltoallw(out, outs, out_bytes, types, in, ins, in_bytes, types, a->comm);
  if (form == STARTED && kind == EQUAL) MPI_Ineighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, a->comm, &request);
  if (form == STARTED && kind == VARYING)
    MPI_Ineighbor_alltoallv(out, outs, out_places, MPI_INT, in, ins, in_places, MPI_INT, a->comm, &request);
  if (form == STARTED && kind == TYPED)
    MPI_Ineighbor_alltoallw(out, outs, out_bytes, types, in, ins, in_bytes, types, a->comm, &request);
#if HAS_PERSISTENT
  if (form == PERSISTENT && kind == EQUAL)
    MPI_Neighbor_alltoall_init(out, 3, MPI_INT, in, 3, MPI_INT, a->comm, MPI_INFO_NULL, &request);
  if (form == PERSISTENT && kind == VARYING)
    MPI_Neighbor_alltoallv_init(out, outs, out_places, MPI_INT, in, ins, in_places, MPI_INT, a->comm, MPI_INFO_NULL,
                                &request);
  if (form == PERSISTENT && kind == TYPED)
    MPI_Neighbor_alltoallw_init(out, outs, out_bytes, types, in, ins, in_bytes, types, a->comm, MPI_INFO_NULL,
                                &request);
  if (form == PERSISTENT) MPI_Start(&request);
#endif
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  for (int i = 0; i < MOST; ++i)
    for (int k = 0; k < (kind == EQUAL ? 3 : width); ++k) {
      const int data = i < a->in && a->from[i] != MPI_PROC_NULL && k < ins[i];
      const int right = data ? block_value(round, a->from[i], a->from_slot[i], k) : POISON;
      expect(in[i * width + k] == right, "kind %d, form %d, round %d: element %d of block %d is %d, not %d", kind, form,
             round, k, i, in[i * width + k], right);
    }
}

static void exchange_all(const Around *a, int forms) {
  for (int form = 0; form < forms; ++form)
    for (int kind = 0; kind < KINDS; ++kind)
      for (int round = 0; round < 2; ++round) exchange_around(a, kind, form, round);
}

/* On a grid the block that comes from the neighbour in one direction is the one that it sends in the other. */
static Around around_grid(MPI_Comm comm) {
  Around a = {comm, 0, 0, 0, {0}, {0}, {0}};
  int dims = 0;
  MPI_Comm_rank(comm, &a.me);
  MPI_Cartdim_get(comm, &dims);
  for (int d = 0; d < dims; ++d) {
    int before, after;
    MPI_Cart_shift(comm, d, 1, &before, &after);
    a.from[2 * d] = a.to[2 * d] = before, a.from[2 * d + 1] = a.to[2 * d + 1] = after;
    a.from_slot[2 * d] = 2 * d + 1, a.from_slot[2 * d + 1] = 2 * d;
  }
  a.in = a.out = 2 * dims;
  return a;
}

/* 8.6: on a grid of periodic and open dimensions, in the order of dimensions, first down and then up; at an open end blocks exist
 * and nothing comes. Dimensions of one and two periodic places have the same neighbour twice. 7.4.2: a duplicate has the same
 * topology. 8.5.5: so have its parts. */
static void try_grid(int dims, const int *sizes, const int *periodic) {
  const int remain[3] = {1, 0, 1};
  MPI_Comm grid, copy, part, again;
  MPI_Request made;
#ifdef OPEN_MPI /* 5.0.11 itself is wrong in other calls than blocking ones, and where few places are periodic */
  const int forms = STARTED;
  for (int d = 0; d < dims; ++d)
    if (periodic[d] && sizes[d] < 3) return;
#else
  const int forms = HAS_PERSISTENT ? FORMS : PERSISTENT;
#endif
  MPI_Cart_create(MPI_COMM_WORLD, dims, sizes, periodic, 0, &grid);
  Around a = around_grid(grid);
  exchange_all(&a, forms);
  MPI_Comm_dup(grid, &copy);
  a = around_grid(copy), exchange_all(&a, forms);
  MPI_Comm_free(&grid);
  MPI_Comm_idup(copy, &again, &made);
  MPI_Wait(&made, MPI_STATUS_IGNORE);
  a = around_grid(again), exchange_all(&a, forms);
  MPI_Comm_free(&again);
  MPI_Cart_sub(copy, remain, &part);
  a = around_grid(part), exchange_all(&a, forms);
  All x = all_open(part, EQUAL, BLOCKING, 0), y = all_open(copy, VARYING, BLOCKING, 1);
  all_once(&x, 1), all_once(&y, 2), all_close(&x), all_close(&y);
  MPI_Comm_free(&part), MPI_Comm_free(&copy);
}

static void grids(void) {
  static const int periodic[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
  for (size_t s = 0; s < sizeof periodic / sizeof *periodic; ++s)
    for (int dims = 1; dims < 4; ++dims) {
      int sizes[3] = {0, 0, 0};
      MPI_Dims_create(ranks, dims, sizes);
      try_grid(dims, sizes, periodic[s]);
    }
}

/* 8.5.1, 8.5.5: a grid without dimensions has no neighbours, so no blocks. */
static void no_dimensions(void) {
  const int size = 1, none = 0;
  int remain[1] = {0};
  MPI_Comm grid = MPI_COMM_NULL, line, point;
  MPI_Cart_create(MPI_COMM_WORLD, 0, &size, &none, 0, &grid);
  if (grid != MPI_COMM_NULL) {
    Around a = around_grid(grid);
    exchange_all(&a, STARTED);
    MPI_Comm_free(&grid);
  }
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &none, 0, &line);
  MPI_Cart_sub(line, remain, &point);
  Around a = around_grid(point);
  exchange_all(&a, STARTED);
  MPI_Comm_free(&line), MPI_Comm_free(&point);
}

/* Rank r has an edge to r + 1, r + 2, ... as often as `edges` says: block by block in order of `to`, then of `from`. */
static Around around_edges(int (*edges)(int, int), int reversed, MPI_Comm *made) {
  static const int weights[MOST];
  Around a = {MPI_COMM_NULL, rank, 0, 0, {0}, {0}, {0}};
  for (int p = 0; p < ranks; ++p)
    for (int i = 0; i < edges(rank, p); ++i) a.to[a.out++] = p;
  for (int i = 0; i < ranks; ++i) {
    const int p = reversed ? ranks - 1 - i : i;
    int slot = 0;
    for (int q = 0; q < rank; ++q) slot += edges(p, q);
    for (int k = 0; k < edges(p, rank); ++k) a.from[a.in] = p, a.from_slot[a.in++] = slot + k;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, a.in, a.from, weights, a.out, a.to, weights, MPI_INFO_NULL, 0, made);
  a.comm = *made;
  return a;
}

static int one_way(int from, int to) { return from == 0 && to != 0; }
static int gathered(int from, int to) { return to == 0 && from != 0; }
static int several(int from, int to) { return (from + 2 * to) % 4; }
static int to_itself(int from, int to) { return from == to ? 2 : 0; }
static int none(int from, int to) { return (void)from, (void)to, 0; }
static int odd_ones(int from, int to) { return from % 2 && to % 2; }

/* 8.5.4, 8.6: distributed graphs of any edges: one way, several between two ranks, to itself, none at some ranks; blocks are in
 * the order of the lists, and what goes over the k-th of several edges arrives over the k-th. Duplicates keep them. */
static void graphs(void) {
  int (*const all[])(int, int) = {one_way, gathered, several, to_itself, none, odd_ones};
  for (size_t g = 0; g < sizeof all / sizeof *all; ++g)
    for (int reversed = 0; reversed < 2; ++reversed) {
      MPI_Comm comm, copy;
      Around a = around_edges(all[g], reversed, &comm);
      exchange_all(&a, HAS_PERSISTENT ? FORMS : PERSISTENT);
      MPI_Comm_dup(comm, &copy);
      MPI_Comm_free(&comm);
      a.comm = copy;
      exchange_all(&a, HAS_PERSISTENT ? FORMS : PERSISTENT);
      MPI_Comm_free(&copy);
    }
}

/* 8.6: only neighbours communicate, so a rank may be far ahead of those that have no edge to it. */
static void ahead(void) {
  MPI_Comm comm;
  const Around a = around_edges(one_way, 0, &comm);
  for (int form = 0; form < 2; ++form)
    for (int round = 0; round < 100; ++round) {
      if (rank > 0 && round % 20 == 5) usleep(1000);
      exchange_around(&a, round % KINDS, form, round);
    }
  MPI_Comm_free(&comm);
}

static const Case cases[] = {
    {"grids", 1, grids},
    {"no-dimensions", 1, no_dimensions},
    {"graphs", 1, graphs},
    {"ahead", 2, ahead},
};

int main(int argc, char **argv) { return run_cases(cases, sizeof cases / sizeof *cases, argc, argv); }
