/* Displacement times extent beyond 2 GiB, without the memory: the buffer is reserved address space, of which only the
 * pages around each item are touched. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "cases.h"
#include "exchange.h"
#include "oracle.h"

enum { FIRST_ITEM = 3000, AROUND_BYTES = 64, ITEM_BYTES = 12, SEND = 0, RECV = 1 };
static const MPI_Aint extent = 1 << 20;

typedef struct {
  unsigned char *memory[2];
  size_t bytes;
  int rank, ranks;
  uint64_t seed;
} FarBuffers;

static unsigned char *item(const FarBuffers *far, int side, int peer) {
  return far->memory[side] + (FIRST_ITEM + peer) * extent;
}

static void write_background(const FarBuffers *far) {
  for (int side = SEND; side <= RECV; ++side)
    for (int peer = 0; peer < far->ranks; ++peer)
      oracle_write(item(far, side, peer) - AROUND_BYTES, ORACLE_BACKGROUND, oracle_key(far->seed, side, peer), 0,
                   2 * AROUND_BYTES);
}

static void check_item(Suite *suite, const FarBuffers *far, int side, int peer) {
  unsigned char expected[2 * AROUND_BYTES];
  const int source = side == SEND ? far->rank : peer, destination = side == SEND ? peer : far->rank;
  oracle_write(expected, ORACLE_BACKGROUND, oracle_key(far->seed, side, peer), 0, sizeof expected);
  oracle_write(expected + AROUND_BYTES, ORACLE_DATA, oracle_key(far->seed, source, destination), 0, ITEM_BYTES);
  const unsigned char *found = item(far, side, peer) - AROUND_BYTES;
  for (int k = 0; k < 2 * AROUND_BYTES; ++k)
    if (found[k] != expected[k])
      suite_fail(suite, "%s buffer, item of rank %d, byte %d: expected 0x%02x, got 0x%02x",
                 side == SEND ? "send" : "receive", peer, k - AROUND_BYTES, expected[k], found[k]);
}

static int call(Collective collective, const FarBuffers *far, MPI_Datatype type) {
  int code = MPI_ERR_ARG;
  int *counts = malloc((size_t)far->ranks * sizeof *counts), *displacements = malloc((size_t)far->ranks * sizeof(int));
  MPI_Count *large_counts = malloc((size_t)far->ranks * sizeof *large_counts);
  MPI_Aint *large_displacements = malloc((size_t)far->ranks * sizeof *large_displacements);
  MPI_Datatype *types = malloc((size_t)far->ranks * sizeof *types);
  for (int peer = 0; peer < far->ranks; ++peer) {
    large_counts[peer] = counts[peer] = 1;
    large_displacements[peer] = displacements[peer] = FIRST_ITEM + peer;
    if (has_types(collective)) large_displacements[peer] *= extent;
    types[peer] = type;
  }
  if (collective == ALLTOALLV)
    code = MPI_Alltoallv(far->memory[SEND], counts, displacements, type, far->memory[RECV], counts, displacements, type,
                         MPI_COMM_WORLD);
#if MPI_VERSION >= 4
  if (collective == ALLTOALLV_C)
    code = MPI_Alltoallv_c(far->memory[SEND], large_counts, large_displacements, type, far->memory[RECV], large_counts,
                           large_displacements, type, MPI_COMM_WORLD);
  if (collective == ALLTOALLW_C)
    code = MPI_Alltoallw_c(far->memory[SEND], large_counts, large_displacements, types, far->memory[RECV], large_counts,
                           large_displacements, types, MPI_COMM_WORLD);
#endif
  free(counts);
  free(displacements);
  free(large_counts);
  free(large_displacements);
  free(types);
  return code;
}

static void run(Suite *suite, Collective collective, const FarBuffers *far) {
  MPI_Datatype three, type;
  MPI_Type_contiguous(ITEM_BYTES / (int)sizeof(int), MPI_INT, &three);
  MPI_Type_create_resized(three, 0, extent, &type);
  MPI_Type_commit(&type);
  write_background(far);
  for (int peer = 0; peer < far->ranks; ++peer)
    oracle_write(item(far, SEND, peer), ORACLE_DATA, oracle_key(far->seed, far->rank, peer), 0, ITEM_BYTES);
  const int code = call(collective, far, type);
  if (code != MPI_SUCCESS) suite_fail(suite, "the call returned %d", code);
  for (int peer = 0; peer < far->ranks; ++peer)
    for (int side = SEND; side <= RECV; ++side) check_item(suite, far, side, peer);
  MPI_Type_free(&type);
  MPI_Type_free(&three);
}

static bool reserve(FarBuffers *far, const Suite *suite) {
  int mine = 1, all = 0;
  for (int side = SEND; side <= RECV; ++side) {
    void *memory = mmap(NULL, far->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    far->memory[side] = memory == MAP_FAILED ? NULL : memory;
    if (memory == MAP_FAILED) mine = 0;
    else madvise(memory, far->bytes, MADV_NOHUGEPAGE); /* advice: a failure only costs memory */
  }
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, suite->comm);
  return all;
}

void cases_far(Suite *suite) {
  for (Collective collective = ALLTOALL; collective < COLLECTIVES; ++collective) {
    if (!is_vector(collective) || collective == ALLTOALLW) continue; /* whose displacements are ints, in bytes */
    if (!suite_begin(suite, "far-displacements/%s", collective_name(collective))) continue;
    FarBuffers far = {{NULL, NULL}, 0, suite->rank, suite->ranks, oracle_mix(suite->options.seed)};
    far.bytes = (size_t)(FIRST_ITEM + suite->ranks + 1) * (size_t)extent;
    if (reserve(&far, suite)) {
      run(suite, collective, &far);
      far.seed = oracle_mix(far.seed);
      run(suite, collective, &far);
    } else {
      suite_skip(suite, "no 3 GiB of address space");
    }
    for (int side = SEND; side <= RECV; ++side)
      if (far.memory[side]) munmap(far.memory[side], far.bytes);
    suite_end(suite);
  }
}
