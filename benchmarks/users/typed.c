/* MPI_Alltoallw of derived types, timed and printed in the form of IMB: "# Benchmarking NAME", then a line for each size.
 *
 *   typed pairs MOST CALLS     twelve pairs of types, of blocks of 2 KiB, 64 KiB and 1 MiB, up to MOST bytes
 *   typed boxes MOST CALLS     redistributions of a box of complex numbers as mpi4py-fft makes them, in slabs and in
 *                              pencils; boxes of 64^3, 128^3 and 256^3 of which a rank sends up to MOST bytes to another
 *
 * Each call is timed by itself, with a barrier behind it that is not; printed are bytes for each destination, calls, and
 * the least, greatest and mean time of the ranks, of the mean over at most CALLS calls. What arrives is checked.
 *
 * The program knows nothing of the library. It reports whether the process holds it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { VOLUME = 256 << 20, WARM = 2 };

/* One side of an exchange: blocks of `count` elements of `type` for each rank. */
typedef struct Side {
  char *memory;
  int *counts, *offsets;
  MPI_Datatype *types;
} Side;

static void fail(const char *what) {
  fprintf(stderr, "typed: %s\nusage: typed pairs|boxes MOST CALLS\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static Side side(size_t bytes, int ranks) {
  return (Side){room(bytes), room(ranks * sizeof(int)), room(ranks * sizeof(int)), room(ranks * sizeof(MPI_Datatype))};
}

static void free_side(Side *one, int ranks) {
  for (int i = ranks - 1; i >= 0; --i) /* MPI_Type_free() overwrites the handle, and all may be the same */
    if (i == 0 || one->types[i] != one->types[0]) MPI_Type_free(&one->types[i]);
  free(one->memory), free(one->counts), free(one->offsets), free(one->types);
}

typedef struct Exchange {
  const Side *out, *in;
  MPI_Comm comm;
} Exchange;

static void call(void *what, int turn) {
  const Exchange *const all = what;
  const Side *const out = all->out, *const in = all->in;
  (void)turn;
  MPI_Alltoallw(out->memory, out->counts, out->offsets, out->types, in->memory, in->counts, in->offsets, in->types,
                all->comm);
}

static void exchange(const Side *out, const Side *in, MPI_Comm comm, int bytes, int limit) {
  Exchange all = {out, in, comm};
  int ranks = 0, of_job = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_size(MPI_COMM_WORLD, &of_job);
  const int calls = calls_within(VOLUME, (double)bytes * ranks * of_job, limit);
  measure(bytes, calls, WARM + calls / 10, NULL, call, &all);
}

/* --- pairs of types ----------------------------------------------------------------------------------------------- */

/* Bytes of `n` doubles, or of as many bytes: type, count, and the bytes that the block spans. */
typedef struct Block {
  MPI_Datatype type;
  int count, span;
} Block;

enum { DOUBLE = sizeof(double), ROW = 32 };

static Block plain(int n) {
  Block block = {MPI_DATATYPE_NULL, 1, n * DOUBLE};
  MPI_Type_contiguous(n, MPI_DOUBLE, &block.type);
  return block;
}

static Block strided(int n, int length) {
  Block block = {MPI_DATATYPE_NULL, 1, 2 * n * DOUBLE};
  MPI_Type_vector(n / length, length, 2 * length, MPI_DOUBLE, &block.type);
  return block;
}
static Block vector_1(int n) { return strided(n, 1); }
static Block vector_16(int n) { return strided(n, 16); }
static Block vector_128(int n) { return strided(n, 128); }

static Block subarray_2(int n) {
  const int whole[] = {n / ROW, 2 * ROW}, part[] = {n / ROW, ROW}, first[] = {0, ROW / 2};
  Block block = {MPI_DATATYPE_NULL, 1, 2 * n * DOUBLE};
  MPI_Type_create_subarray(2, whole, part, first, MPI_ORDER_C, MPI_DOUBLE, &block.type);
  return block;
}

static Block subarray_3(int n) {
  const int whole[] = {n / (4 * ROW), 8, 2 * ROW}, part[] = {n / (4 * ROW), 4, ROW}, first[] = {0, 2, ROW / 2};
  Block block = {MPI_DATATYPE_NULL, 1, 4 * n * DOUBLE};
  MPI_Type_create_subarray(3, whole, part, first, MPI_ORDER_C, MPI_DOUBLE, &block.type);
  return block;
}

/* Columns of a matrix, one after the other: a transposition. */
static Block columns(int n) {
  MPI_Datatype column;
  Block block = {MPI_DATATYPE_NULL, ROW, n * DOUBLE};
  MPI_Type_vector(n / ROW, 1, ROW, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, DOUBLE, &block.type);
  MPI_Type_free(&column);
  return block;
}

static Block indexed(int n) {
  int *const lengths = room(n * sizeof(int)), *const places = room(n * sizeof(int)), blocks = 0, at = 0;
  Block block = {MPI_DATATYPE_NULL, 1, 2 * n * DOUBLE};
  for (int left = n; left > 0; left -= lengths[blocks++]) {
    lengths[blocks] = left < 1 + blocks % 7 ? left : 1 + blocks % 7;
    places[blocks] = at;
    at += 2 * lengths[blocks];
  }
  MPI_Type_indexed(blocks, lengths, places, MPI_DOUBLE, &block.type);
  free(lengths), free(places);
  return block;
}

static Block indexed_block(int n) {
  const int length = 16;
  int *const places = room(n / length * sizeof(int));
  Block block = {MPI_DATATYPE_NULL, 1, 2 * n * DOUBLE};
  for (int i = 0; i < n / length; ++i) places[i] = 2 * length * i + i % 3;
  MPI_Type_create_indexed_block(n / length, length, places, MPI_DOUBLE, &block.type);
  free(places);
  return block;
}

/* Two doubles, four ints, and a hole. */
static Block structure(int n) {
  const int lengths[] = {2, 4};
  const MPI_Aint places[] = {0, 2 * DOUBLE};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype both;
  Block block = {MPI_DATATYPE_NULL, n / 4, n / 4 * 5 * DOUBLE};
  MPI_Type_create_struct(2, lengths, places, types, &both);
  MPI_Type_create_resized(both, 0, 5 * DOUBLE, &block.type);
  MPI_Type_free(&both);
  return block;
}

static const struct Pair {
  const char *name;
  Block (*out)(int n), (*in)(int n);
} all_pairs[] = {{"subarray2d_to_contiguous", subarray_2, plain},
                 {"contiguous_to_subarray2d", plain, subarray_2},
                 {"subarray2d_to_subarray2d", subarray_2, subarray_2},
                 {"subarray3d_to_subarray3d", subarray_3, subarray_3},
                 {"vector8B_to_contiguous", vector_1, plain},
                 {"contiguous_to_vector8B", plain, vector_1},
                 {"vector128B_to_vector1KiB", vector_16, vector_128},
                 {"columns_to_contiguous", columns, plain},
                 {"struct_to_struct", structure, structure},
                 {"indexed_to_indexed", indexed, indexed},
                 {"indexed_block_to_contiguous", indexed_block, plain},
                 {"contiguous_to_contiguous", plain, plain}};

static Side filled(Block block, int ranks) {
  Side one = side((size_t)ranks * block.span, ranks);
  MPI_Type_commit(&block.type);
  for (int i = 0; i < ranks; ++i)
    one.counts[i] = block.count, one.offsets[i] = i * block.span, one.types[i] = block.type;
  return one;
}

/* Fills (or checks) a block by what MPI_Pack says is in it. */
static void pack(const Side *one, int i, char *bytes, int size, int into_block) {
  int position = 0;
  if (into_block)
    MPI_Unpack(bytes, size, &position, one->memory + one->offsets[i], one->counts[i], one->types[i], MPI_COMM_WORLD);
  else MPI_Pack(one->memory + one->offsets[i], one->counts[i], one->types[i], bytes, size, &position, MPI_COMM_WORLD);
}

static void pairs(int most, int limit) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t p = 0; p < sizeof all_pairs / sizeof *all_pairs; ++p) {
    title(all_pairs[p].name);
    for (int n = 256; n * DOUBLE <= (1 << 20) && n * DOUBLE <= most; n *= n == 8192 ? 16 : 32) {
      Side out = filled(all_pairs[p].out(n), ranks), in = filled(all_pairs[p].in(n), ranks);
      const int bytes = n * DOUBLE;
      char *const packed = room(bytes);
      for (int i = 0; i < ranks; ++i) memset(packed, 1 + rank * ranks + i, bytes), pack(&out, i, packed, bytes, 1);
      exchange(&out, &in, MPI_COMM_WORLD, bytes, limit);
      for (int i = 0; i < ranks; ++i) {
        pack(&in, i, packed, bytes, 0);
        for (int b = 0; b < bytes; ++b)
          if (packed[b] != (char)(1 + i * ranks + rank)) fail("WRONG data were delivered");
      }
      free(packed), free_side(&out, ranks), free_side(&in, ranks);
    }
  }
}

/* --- redistributions ---------------------------------------------------------------------------------------------- */

typedef double Complex[2];

/* An array `whole` of which each rank of `ranks` holds, or is to hold, an equal part along `axis`. */
static Side split(const int whole[3], int axis, int ranks) {
  Side one = side((size_t)whole[0] * whole[1] * whole[2] * sizeof(Complex), ranks);
  int part[3] = {whole[0], whole[1], whole[2]}, first[3] = {0, 0, 0};
  MPI_Datatype element;
  MPI_Type_contiguous(2, MPI_DOUBLE, &element);
  part[axis] /= ranks;
  for (int i = 0; i < ranks; ++i) {
    first[axis] = i * part[axis];
    MPI_Type_create_subarray(3, whole, part, first, MPI_ORDER_C, element, &one.types[i]);
    MPI_Type_commit(&one.types[i]);
    one.counts[i] = 1;
  }
  MPI_Type_free(&element);
  return one;
}

/* What stands at a place of the box, along the axes in the order of memory. */
static double value(const int first[3], int i, int j, int k) {
  return 1 + (first[2] + k) + 1024.0 * ((first[1] + j) + 1024.0 * (first[0] + i));
}

/* From parts that are whole along axis `from` to parts that are whole along `to`. `rest`: the parts of the third axis. */
static void redistribute(const char *name, int n, int from, int to, MPI_Comm comm, int rest, int which, int limit) {
  int ranks = 0, rank = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  int before[3] = {n, n, n}, after[3] = {n, n, n}, first[3] = {0, 0, 0}, then[3] = {0, 0, 0};
  const int third = 3 - from - to;
  before[third] = after[third] = n / rest;
  first[third] = then[third] = which * (n / rest);
  before[to] = n / ranks, first[to] = rank * (n / ranks);
  after[from] = n / ranks, then[from] = rank * (n / ranks);
  Side out = split(before, from, ranks), in = split(after, to, ranks);
  Complex *const sent = (Complex *)out.memory, *const received = (Complex *)in.memory;
  for (int i = 0, at = 0; i < before[0]; ++i)
    for (int j = 0; j < before[1]; ++j)
      for (int k = 0; k < before[2]; ++k, ++at) sent[at][0] = value(first, i, j, k), sent[at][1] = -sent[at][0];
  title(name);
  exchange(&out, &in, comm, (int)((double)n * n * n / rest / ranks / ranks * sizeof(Complex)), limit);
  for (int i = 0, at = 0; i < after[0]; ++i)
    for (int j = 0; j < after[1]; ++j)
      for (int k = 0; k < after[2]; ++k, ++at)
        if (received[at][0] != value(then, i, j, k) || received[at][1] != -value(then, i, j, k))
          fail("WRONG data were delivered");
  free_side(&out, ranks), free_side(&in, ranks);
}

static void boxes(int most, int limit) {
  int ranks = 0, rank = 0, grid[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 2, grid);
  const int row = rank / grid[1], column = rank % grid[1];
  MPI_Comm rows, columns;
  MPI_Comm_split(MPI_COMM_WORLD, row, column, &rows);
  MPI_Comm_split(MPI_COMM_WORLD, column, row, &columns);
  for (int n = 64; n <= 256; n *= 2) {
    if ((double)n * n * n / ranks / ranks * sizeof(Complex) > most || n % ranks != 0) continue;
    char name[32];
    const struct {
      const char *name;
      int from, to;
    } slabs[] = {{"slab_there", 1, 0}, {"slab_back", 0, 1}, {"slab_last_axis", 2, 0}};
    for (int i = 0; i < 3; ++i) {
      snprintf(name, sizeof name, "%s_%d", slabs[i].name, n);
      redistribute(name, n, slabs[i].from, slabs[i].to, MPI_COMM_WORLD, 1, 0, limit);
    }
    if (grid[1] == 1) continue;
    snprintf(name, sizeof name, "pencil_2_to_1_%d", n);
    redistribute(name, n, 2, 1, rows, grid[0], row, limit);
    snprintf(name, sizeof name, "pencil_1_to_0_%d", n);
    redistribute(name, n, 1, 0, columns, grid[1], column, limit);
  }
  MPI_Comm_free(&rows), MPI_Comm_free(&columns);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) fail("there are three arguments");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int most = atoi(argv[2]), limit = atoi(argv[3]);
  if (most < 1 || limit < 1) fail("MOST and CALLS are at least 1");
  report_library();
  if (strcmp(argv[1], "pairs") == 0) pairs(most, limit);
  else if (strcmp(argv[1], "boxes") == 0) boxes(most, limit);
  else fail("the first argument is neither pairs nor boxes");
  MPI_Finalize();
  return 0;
}
