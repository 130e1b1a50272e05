/* More than 2 GiB of data: int counts of a large type, and counts beyond INT_MAX. Buffers are checked as a stream,
 * because a second copy with the expected bytes would not fit. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "exchange.h"
#include "oracle.h"

enum { GUARD_BYTES = 64, GUARD = 0xe5, MEBIBYTE = 1 << 20, MOST_MEBIBYTES = 10 * 1024 };

typedef struct {
  const char *name;
  Collective collective;
  bool of_chars;      /* otherwise of items of 1 MiB */
  bool one_block;     /* only rank 0 sends much, to the last rank */
  MPI_Aint mebibytes; /* of one rank's buffer; or of the one block */
} HugeCase;

static const HugeCase huge_cases[] = {
    {"alltoall", ALLTOALL, false, false, 2200},
    {"alltoallv", ALLTOALLV, false, false, 2200},
    {"alltoallv/one-block", ALLTOALLV, false, true, 2100},
#if MPI_VERSION >= 4
    {"alltoallv_c/one-block-of-char", ALLTOALLV_C, true, true, 2100},
    {"alltoallw_c/one-block-of-char", ALLTOALLW_C, true, true, 2100},
    {"alltoall_c/char", ALLTOALL_C, true, false, 2200}, /* at P = 1 the count itself is beyond INT_MAX */
#endif
};

/* One side: P blocks one after another. */
typedef struct {
  unsigned char *memory;
  MPI_Aint bytes;
  int *counts, *displacements;
  MPI_Count *large_counts;
  MPI_Aint *large_displacements;
} HugeSide;

static MPI_Aint item_bytes(const HugeCase *which) { return which->of_chars ? 1 : MEBIBYTE; }

static MPI_Aint block_items(const HugeCase *which, int ranks, int source, int destination) {
  if (!which->one_block) return which->mebibytes / ranks * MEBIBYTE / item_bytes(which);
  return source == 0 && destination == ranks - 1 ? which->mebibytes * MEBIBYTE / item_bytes(which) : 1;
}

static void open_side(HugeSide *side, const HugeCase *which, const Suite *suite, bool sends) {
  const size_t ranks = (size_t)suite->ranks;
  side->counts = malloc(ranks * sizeof *side->counts);
  side->displacements = malloc(ranks * sizeof *side->displacements);
  side->large_counts = malloc(ranks * sizeof *side->large_counts);
  side->large_displacements = malloc(ranks * sizeof *side->large_displacements);
  MPI_Aint items = 0;
  for (int peer = 0; peer < suite->ranks; ++peer) {
    const MPI_Aint count = sends ? block_items(which, suite->ranks, suite->rank, peer)
                                 : block_items(which, suite->ranks, peer, suite->rank);
    side->counts[peer] = (int)count; /* truncated, and unused, where only the large forms can say it */
    side->displacements[peer] = (int)items;
    side->large_counts[peer] = count;
    side->large_displacements[peer] = items;
    items += count;
  }
  side->bytes = items * item_bytes(which);
  side->memory = malloc((size_t)side->bytes + 2 * GUARD_BYTES);
}

static void close_side(HugeSide *side) {
  free(side->memory);
  free(side->counts);
  free(side->displacements);
  free(side->large_counts);
  free(side->large_displacements);
}

static uint64_t block_key(const Suite *suite, int peer, bool sends) {
  const uint64_t seed = suite->options.seed;
  return sends ? oracle_key(seed, suite->rank, peer) : oracle_key(seed, peer, suite->rank);
}

static void fill(const HugeSide *side, const HugeCase *which, const Suite *suite, bool sends) {
  memset(side->memory, GUARD, (size_t)(sends ? GUARD_BYTES : side->bytes + 2 * GUARD_BYTES));
  memset(side->memory + GUARD_BYTES + side->bytes, GUARD, GUARD_BYTES);
  for (int peer = 0; sends && peer < suite->ranks; ++peer)
    oracle_write(side->memory + GUARD_BYTES + side->large_displacements[peer] * item_bytes(which), ORACLE_DATA,
                 block_key(suite, peer, sends), 0, (size_t)(side->large_counts[peer] * item_bytes(which)));
}

static void check(const HugeSide *side, const HugeCase *which, Suite *suite, bool sends) {
  const char *buffer = sends ? "send" : "receive";
  for (int peer = 0; peer < suite->ranks; ++peer) {
    const size_t bytes = (size_t)(side->large_counts[peer] * item_bytes(which));
    const unsigned char *block = side->memory + GUARD_BYTES + side->large_displacements[peer] * item_bytes(which);
    const size_t wrong = oracle_compare(block, ORACLE_DATA, block_key(suite, peer, sends), 0, bytes);
    if (wrong < bytes)
      suite_fail(suite, "%s buffer, block of rank %d, byte %zu of %zu: got 0x%02x", buffer, peer, wrong, bytes,
                 block[wrong]);
  }
  for (int k = 0; k < GUARD_BYTES; ++k)
    if (side->memory[k] != GUARD || side->memory[GUARD_BYTES + side->bytes + k] != GUARD)
      suite_fail(suite, "%s buffer: a guard byte was written", buffer);
}

#if MPI_VERSION >= 4
/* Of chars: an item is a byte, as displacements have it. */
static int call_typed(const HugeSide *send, const HugeSide *recv, MPI_Datatype type) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype *types = malloc((size_t)ranks * sizeof *types);
  for (int peer = 0; peer < ranks; ++peer) types[peer] = type;
  const int code =
      MPI_Alltoallw_c(send->memory + GUARD_BYTES, send->large_counts, send->large_displacements, types,
                      recv->memory + GUARD_BYTES, recv->large_counts, recv->large_displacements, types, MPI_COMM_WORLD);
  free(types);
  return code;
}
#endif

static int call(const HugeCase *which, const HugeSide *send, const HugeSide *recv, MPI_Datatype type) {
  const void *from = send->memory + GUARD_BYTES;
  void *to = recv->memory + GUARD_BYTES;
  switch (which->collective) {
    case ALLTOALL: return MPI_Alltoall(from, send->counts[0], type, to, recv->counts[0], type, MPI_COMM_WORLD);
    case ALLTOALLV:
      return MPI_Alltoallv(from, send->counts, send->displacements, type, to, recv->counts, recv->displacements, type,
                           MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    case ALLTOALL_C:
      return MPI_Alltoall_c(from, send->large_counts[0], type, to, recv->large_counts[0], type, MPI_COMM_WORLD);
    case ALLTOALLV_C:
      return MPI_Alltoallv_c(from, send->large_counts, send->large_displacements, type, to, recv->large_counts,
                             recv->large_displacements, type, MPI_COMM_WORLD);
    case ALLTOALLW_C: return call_typed(send, recv, type);
#endif
    default: return MPI_ERR_ARG;
  }
}

/* Send and receive buffers of all ranks, as if on one node; a quarter more for what MPI itself needs. */
static bool fits(const HugeCase *which, const Suite *suite) {
  const MPI_Aint total = 2 * which->mebibytes * (which->one_block ? 1 : suite->ranks);
  MPI_Aint free_mebibytes = (MPI_Aint)sysconf(_SC_AVPHYS_PAGES) * (MPI_Aint)sysconf(_SC_PAGESIZE) / MEBIBYTE;
  MPI_Bcast(&free_mebibytes, 1, MPI_AINT, 0, suite->comm);
  return total + total / 4 <= free_mebibytes && total <= MOST_MEBIBYTES;
}

static void run(Suite *suite, const HugeCase *which) {
  MPI_Datatype mebibyte;
  HugeSide send, recv;
  MPI_Type_contiguous(MEBIBYTE, MPI_CHAR, &mebibyte);
  MPI_Type_commit(&mebibyte);
  open_side(&send, which, suite, true);
  open_side(&recv, which, suite, false);
  const int mine = send.memory && recv.memory;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, suite->comm);
  if (all) {
    fill(&send, which, suite, true);
    fill(&recv, which, suite, false);
    const int code = call(which, &send, &recv, which->of_chars ? MPI_CHAR : mebibyte);
    if (code != MPI_SUCCESS) suite_fail(suite, "the call returned %d", code);
    check(&recv, which, suite, false);
    check(&send, which, suite, true);
  } else {
    suite_skip(suite, "malloc failed");
  }
  close_side(&send);
  close_side(&recv);
  MPI_Type_free(&mebibyte);
}

void cases_huge(Suite *suite) {
  for (size_t k = 0; k < sizeof huge_cases / sizeof huge_cases[0]; ++k) {
    const HugeCase *which = &huge_cases[k];
    if (!suite_begin(suite, "huge/%s/%ldMiB", which->name, (long)which->mebibytes)) continue;
    if (fits(which, suite)) run(suite, which);
    else suite_skip(suite, "not enough free memory, or over 10 GiB on all ranks together");
    suite_end(suite);
  }
}
