/* Exchanges with neighbours, timed and printed in the form of IMB: "# Benchmarking NAME", then a line for each size.
 *
 *   neighbours MOST CALLS [graphs]
 *
 *   ring     MPI_Neighbor_alltoall on a periodic grid of one dimension, blocks of 8 B to MOST bytes
 *   torus    the same on a periodic grid of two dimensions
 *   halo     MPI_Neighbor_alltoallw on a grid of two dimensions with open ends: the rows and columns at the edges of a
 *            square of doubles, which has a frame for those of its neighbours
 *
 * and of graphs, instead of these, MPI_Neighbor_alltoall on distributed graphs, blocks of 8 B to MOST bytes:
 *
 *   stencil  nine points: all eight neighbours of a rank on a periodic grid of two dimensions
 *   random   each rank sends to each other one with probability 1/2
 *
 * Each call is timed by itself, with a barrier behind it that is not; printed are bytes for each neighbour, calls, and the
 * least, greatest and mean time of the ranks, of the mean over CALLS calls. What arrives is checked.
 *
 * The program knows nothing of the library. It reports whether the process holds it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { WARM = 10, SMALLEST = 8, GROWTH = 8, DOUBLE = sizeof(double), SIDES = 4 };

static int rank, ranks;

static void fail(const char *what) {
  fprintf(stderr, "neighbours: %s\nusage: neighbours MOST CALLS [graphs]\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static MPI_Comm grid_of(int dimensions, int periodic) {
  int sizes[2] = {0, 0}, periods[2] = {periodic, periodic};
  MPI_Comm grid;
  MPI_Dims_create(ranks, dimensions, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 0, &grid);
  return grid;
}

/* --- equal blocks ------------------------------------------------------------------------------------------------- */

typedef struct Bytes {
  char *out, *in;
  int bytes;
  MPI_Comm grid;
} Bytes;

static void exchange_bytes(void *what, int turn) {
  const Bytes *const all = what;
  (void)turn;
  MPI_Neighbor_alltoall(all->out, all->bytes, MPI_BYTE, all->in, all->bytes, MPI_BYTE, all->grid);
}

static void periodic(const char *name, int dimensions, int most, int calls) {
  const int blocks = 2 * dimensions;
  Bytes all = {room((size_t)blocks * most), room((size_t)blocks * most), 0, grid_of(dimensions, 1)};
  title(name);
  for (all.bytes = SMALLEST; all.bytes <= most; all.bytes *= GROWTH) {
    for (int i = 0; i < blocks; ++i) memset(all.out + (size_t)i * all.bytes, 1 + rank * blocks + i, all.bytes);
    measure(all.bytes, calls, WARM, NULL, exchange_bytes, &all);
    for (int d = 0; d < dimensions; ++d) {
      int near[2];
      MPI_Cart_shift(all.grid, d, 1, &near[0], &near[1]);
      for (int side = 0; side < 2; ++side) /* what a neighbour sends this way */
        for (int b = 0; b < all.bytes; ++b)
          if (all.in[(size_t)(2 * d + side) * all.bytes + b] != (char)(1 + near[side] * blocks + 2 * d + 1 - side))
            fail("WRONG data were delivered");
    }
  }
  MPI_Comm_free(&all.grid);
  free(all.out), free(all.in);
}

/* --- edges of a square -------------------------------------------------------------------------------------------- */

typedef struct Halo {
  double *square; /* of (n + 2)^2, frame included */
  int counts[SIDES];
  MPI_Aint out[SIDES], in[SIDES];
  MPI_Datatype types[SIDES];
  MPI_Comm grid;
} Halo;

static void exchange_edges(void *what, int turn) {
  const Halo *const all = what;
  (void)turn;
  MPI_Neighbor_alltoallw(all->square, all->counts, all->out, all->types, all->square, all->counts, all->in, all->types,
                         all->grid);
}

static void halo(int most, int calls) {
  Halo all = {.grid = grid_of(2, 0)};
  title("halo");
  for (int n = GROWTH; n * DOUBLE <= most && n <= 4096; n *= GROWTH) {
    const int width = n + 2;
    const int out[SIDES][2] = {{1, 1}, {n, 1}, {1, 1}, {1, n}}, in[SIDES][2] = {{0, 1}, {n + 1, 1}, {1, 0}, {1, n + 1}};
    all.square = room((size_t)width * width * DOUBLE);
    for (int i = 0; i < SIDES; ++i) {
      all.counts[i] = 1;
      all.out[i] = (MPI_Aint)(out[i][0] * width + out[i][1]) * DOUBLE;
      all.in[i] = (MPI_Aint)(in[i][0] * width + in[i][1]) * DOUBLE;
      i < 2 ? MPI_Type_contiguous(n, MPI_DOUBLE, &all.types[i])
            : MPI_Type_vector(n, 1, width, MPI_DOUBLE, &all.types[i]);
      MPI_Type_commit(&all.types[i]);
    }
    for (int i = 1; i <= n; ++i)
      for (int k = 1; k <= n; ++k) all.square[i * width + k] = 1 + rank;
    measure(n * DOUBLE, calls, WARM, NULL, exchange_edges, &all);
    for (int d = 0; d < 2; ++d) {
      int near[2];
      MPI_Cart_shift(all.grid, d, 1, &near[0], &near[1]);
      for (int side = 0; side < 2; ++side)
        if (all.square[all.in[2 * d + side] / DOUBLE] != (near[side] == MPI_PROC_NULL ? 0 : 1 + near[side]))
          fail("WRONG data were delivered");
    }
    for (int i = 0; i < SIDES; ++i) MPI_Type_free(&all.types[i]);
    free(all.square);
  }
  MPI_Comm_free(&all.grid);
}

/* --- graphs ------------------------------------------------------------------------------------------------------- */

/* Whether rank a sends to rank b. */
typedef int Edge(int a, int b);

static int in_stencil(int a, int b) {
  int sizes[2] = {0, 0}, near = a != b;
  MPI_Dims_create(ranks, 2, sizes);
  for (int d = 0; d < 2; ++d) {
    const int x = d == 0 ? a / sizes[1] : a % sizes[1], y = d == 0 ? b / sizes[1] : b % sizes[1];
    const int apart = (x - y + sizes[d]) % sizes[d];
    near &= apart <= 1 || apart == sizes[d] - 1;
  }
  return near;
}

static int at_random(int a, int b) {
  unsigned x = (unsigned)(a * ranks + b + 1) * 0x9E3779B1u;
  x = (x ^ (x >> 15)) * 0x2C1B3C6Du;
  return a != b && (x ^ (x >> 13)) >> 31;
}

static char content(int source, int destination) { return (char)(1 + 7 * source + destination); }

static void graph(const char *name, Edge *edge, int most, int calls) {
  int *const to = room(ranks * sizeof *to), *const from = room(ranks * sizeof *from);
  int out = 0, in = 0;
  for (int other = 0; other < ranks; ++other) {
    if (edge(rank, other)) to[out++] = other;
    if (edge(other, rank)) from[in++] = other;
  }
  Bytes all = {room((size_t)ranks * most), room((size_t)ranks * most), 0, MPI_COMM_NULL};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &all.grid);
  title(name);
  for (all.bytes = SMALLEST; all.bytes <= most; all.bytes *= GROWTH) {
    for (int i = 0; i < out; ++i) memset(all.out + (size_t)i * all.bytes, content(rank, to[i]), all.bytes);
    measure(all.bytes, calls, WARM, NULL, exchange_bytes, &all);
    for (int i = 0; i < in; ++i)
      for (int b = 0; b < all.bytes; ++b)
        if (all.in[(size_t)i * all.bytes + b] != content(from[i], rank)) fail("WRONG data were delivered");
  }
  MPI_Comm_free(&all.grid);
  free(all.out), free(all.in), free(to), free(from);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int graphs = argc == 4 && strcmp(argv[3], "graphs") == 0;
  if (argc != 3 && !graphs) fail("there are two arguments, or three");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int most = atoi(argv[1]), calls = atoi(argv[2]);
  if (most < 1 || calls < 1) fail("MOST and CALLS are at least 1");
  report_library();
  if (graphs) {
    graph("stencil", in_stencil, most, calls);
    graph("random", at_random, most, calls);
  } else {
    periodic("ring", 1, most, calls);
    periodic("torus", 2, most, calls);
    halo(most, calls);
  }
  MPI_Finalize();
  return 0;
}
