/* started_again: non-blocking all-to-alls whose arguments are those of earlier ones, in other buffers, and in turn with others,
 * also with others that differ in displacements alone; of MPI_INT and of MPI_DOUBLE_INT, whose data have gaps. It prints "started_again: right". */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 24, STRIDE = 6, BUFFERS = 2, GUARD = 64 };
enum { EQUAL, VECTOR, EACH, KINDS };

typedef struct {
  double value;
  int index;
} Pair;

static int me, ranks, wrong;

static int count(int kind, int pattern, int source, int destination) {
  return kind == EQUAL ? 2 + pattern : (source + 2 * destination + pattern) % STRIDE;
}

/* Where, in blocks, the one for a rank or from it lies: in every other round the last one comes first. */
static int place(int kind, int round, int i, int number) {
  if (kind == EQUAL) return i * number;
  return (round % 2 ? ranks - 1 - i : i) * STRIDE;
}

static int value(int round, int source, int destination, int k) {
  return 1 + k + 10 * (destination + 100 * (source + 100 * (round + 1)));
}

static void put(MPI_Datatype type, char *at, int what) {
  if (type == MPI_INT) memcpy(at, &what, sizeof what);
  else ((Pair *)at)->value = what + 0.5, ((Pair *)at)->index = what;
}

/* Whether `what` is there, and what lies between data is as it was. */
static int is(MPI_Datatype type, const char *at, int what) {
  if (type == MPI_INT) return memcmp(at, &what, sizeof what) == 0;
  const Pair *pair = (const Pair *)at;
  const size_t gap = offsetof(Pair, index) + sizeof pair->index;
  for (size_t i = gap; i < sizeof *pair; ++i)
    if (at[i] != 0x5a) return 0;
  return pair->value == what + 0.5 && pair->index == what;
}

static void repeat(int kind, int pairs) {
  const size_t size = pairs ? sizeof(Pair) : sizeof(int);
  const MPI_Datatype type = pairs ? MPI_DOUBLE_INT : MPI_INT;
  const size_t bytes = (size_t)ranks * STRIDE * size;
  char *out[BUFFERS], *in[BUFFERS];
  int *arrays[BUFFERS][3];
  MPI_Datatype *types = malloc((size_t)ranks * sizeof *types);
  for (int i = 0; i < ranks; ++i) types[i] = type;
  for (int b = 0; b < BUFFERS; ++b) {
    out[b] = malloc(bytes), in[b] = malloc(bytes + GUARD);
    for (int a = 0; a < 3; ++a) arrays[b][a] = malloc((size_t)ranks * sizeof(int));
  }
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Request requests[BUFFERS];
    const int under_way = round % 4 == 3 ? BUFFERS : 1;
    for (int b = 0; b < under_way; ++b) {
      const int pattern = (round / 5 + b) % 2, buffer = (round + b) % BUFFERS;
      int *counts = arrays[buffer][0], *expected = arrays[buffer][1], *places = arrays[buffer][2];
      memset(out[buffer], 0, bytes), memset(in[buffer], 0x5a, bytes + GUARD);
      for (int i = 0; i < ranks; ++i) {
        counts[i] = count(kind, pattern, me, i), expected[i] = count(kind, pattern, i, me);
        places[i] = place(kind, round, i, counts[i]);
        for (int k = 0; k < counts[i]; ++k)
          put(type, out[buffer] + (size_t)(places[i] + k) * size, value(round + b, me, i, k));
        if (kind == EACH) places[i] *= (int)size;
      }
      if (kind == EQUAL)
        MPI_Ialltoall(out[buffer], counts[0], type, in[buffer], counts[0], type, MPI_COMM_WORLD, &requests[b]);
      else if (kind == VECTOR)
        MPI_Ialltoallv(out[buffer], counts, places, type, in[buffer], expected, places, type, MPI_COMM_WORLD,
                       &requests[b]);
      else
        MPI_Ialltoallw(out[buffer], counts, places, types, in[buffer], expected, places, types, MPI_COMM_WORLD,
                       &requests[b]);
    }
    MPI_Waitall(under_way, requests, MPI_STATUSES_IGNORE);
    for (int b = 0; b < under_way; ++b) {
      const int pattern = (round / 5 + b) % 2, buffer = (round + b) % BUFFERS;
      size_t received = 0;
      for (int i = 0; i < ranks; ++i) {
        const int number = count(kind, pattern, i, me), first = place(kind, round, i, number);
        for (int k = 0; k < number; ++k)
          wrong += !is(type, in[buffer] + (size_t)(first + k) * size, value(round + b, i, me, k));
        received += (size_t)number;
      }
      size_t untouched = 0;
      for (size_t i = 0; i < bytes + GUARD; ++i) untouched += in[buffer][i] == 0x5a;
      wrong += untouched < bytes + GUARD - received * size;
    }
  }
  for (int b = 0; b < BUFFERS; ++b) {
    free(out[b]), free(in[b]);
    for (int a = 0; a < 3; ++a) free(arrays[b][a]);
  }
  free(types);
}

int main(int argc, char **argv) {
  int all_wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int kind = 0; kind < KINDS; ++kind)
    for (int pairs = 0; pairs < 2; ++pairs) {
      MPI_Barrier(MPI_COMM_WORLD);  // where ranks meet, what serves the next kind can be made ready
      repeat(kind, pairs);
      MPI_Barrier(MPI_COMM_WORLD);
      repeat(kind, pairs);
    }
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0 && !all_wrong) printf("started_again: right\n");
  else if (me == 0) printf("started_again: %d wrong\n", all_wrong);
  MPI_Finalize();
  return 0;
}
