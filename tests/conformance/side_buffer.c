/* The buffer of a side: guards, background, data, and the search for what went wrong. */
#include <stdlib.h>
#include <string.h>

#include "guarded.h"
#include "oracle.h"
#include "side.h"

enum { ALIGNMENT = 16, GUARD_BYTES = 64 };

typedef struct {
  uint64_t key;
  MPI_Aint first;
} Stream;

static uint64_t run_seed(const Side *side, int run) {
  return oracle_mix(side->exchange->seed * 2 + (uint64_t)run + ((uint64_t)side->exchange->version << 32));
}

/* What source sends to destination. Blocks that overlap are windows on one stream of their source. */
static Stream block_stream(const Side *side, int run, int source, int destination) {
  const Exchange *exchange = side->exchange;
  const uint64_t seed = run_seed(side, run);
  if (exchange->send_placement == SAME_BLOCK) return (Stream){oracle_key(seed, source, 0), 0};
  if (exchange->send_placement == OVERLAPPING)
    return (Stream){oracle_key(seed, source, 0), destination * unit_bytes(exchange)};
  return (Stream){oracle_key(seed, source, destination), 0};
}

/* The two sides have different backgrounds: copying a gap together with the data is seen. */
static void write_background(const Side *side, int run, unsigned char *to) {
  const uint64_t key = oracle_key(run_seed(side, run), -1 - side->sends, side->group.me);
  oracle_write(to, ORACLE_BACKGROUND, key, 0, (size_t)side->bytes);
}

static MPI_Aint origin_offset(const Side *side) { return side->origin - side->allocation; }

static unsigned char *block_in(const Side *side, unsigned char *allocation, int peer) {
  return allocation + origin_offset(side) + side_offset(side, peer);
}

static void write_blocks(const Side *side, int run, unsigned char *allocation, bool outgoing) {
  for (int peer = 0; peer < side->group.peers; ++peer) {
    if (side->count[peer] == 0) continue;
    const int id = side->group.first_peer + peer, me = side->group.me;
    const Stream stream = outgoing ? block_stream(side, run, me, id) : block_stream(side, run, id, me);
    layout_write(side_layout(side, peer), block_in(side, allocation, peer), side->count[peer], stream.key,
                 stream.first);
  }
}

/* Every basic type is aligned to its size, or to the largest power of two in it. */
static MPI_Aint alignment_of_data(const Side *side) {
  MPI_Aint alignment = 1;
  for (int peer = 0; peer < side->group.peers; ++peer) {
    const Layout *layout = side_layout(side, peer);
    for (int k = 0; k < layout->pieces; ++k)
      while (alignment < ALIGNMENT && layout->piece[k].bytes % (2 * alignment) == 0) alignment *= 2;
  }
  return alignment;
}

/* By malloc, as most programs allocate, with guards at both ends: only what is written to these is seen. */
static void allocate_plainly(Side *side, MPI_Aint low, MPI_Aint high, MPI_Aint guard) {
  side->bytes = guard + (high - low) + guard;
  side->allocation = malloc((size_t)side->bytes);
  side->origin = side->allocation + guard - low;
}

/* The data touch a page that cannot be touched, so that what is read beyond them is seen, too. */
static void allocate_guarded(Side *side, MPI_Aint low, MPI_Aint high, MPI_Aint guard, GuardedSide which) {
  side->bytes = high - low + guard;
  side->allocation = guarded_allocate((size_t)side->bytes, which);
  side->origin = which == GUARDED_START ? side->allocation - low : side->allocation + side->bytes - high;
}

static MPI_Aint rounded_down(MPI_Aint value, MPI_Aint alignment) {
  while (value % alignment != 0) --value;
  return value;
}

void side_free(Side *side) {
  if (side->guarded) guarded_free(side->allocation);
  else free(side->allocation);
  free(side->expected);
}

void side_allocate(Side *side, int run) {
  /* Guards grow from run to run, so that the buffer moves. */
  const MPI_Aint guard = GUARD_BYTES + ALIGNMENT * run;
  const uint64_t choice = side->exchange->seed + (uint64_t)(run + side->sends + side->group.me);
  side_free(side);
  side->guarded = choice % 2 == 1;
  const MPI_Aint alignment = side->guarded ? alignment_of_data(side) : ALIGNMENT;
  const MPI_Aint low = rounded_down(side->low, alignment), high = -rounded_down(-side->high, alignment);
  if (side->guarded) allocate_guarded(side, low, high, guard, choice % 8 == 1 ? GUARDED_START : GUARDED_END);
  else allocate_plainly(side, low, high, guard);
  side->expected = malloc((size_t)side->bytes);
}

void side_fill(Side *side, int run, bool with_data) {
  write_background(side, run, side->allocation);
  if (with_data) write_blocks(side, run, side->allocation, true);
  memcpy(side->expected, side->allocation, (size_t)side->bytes);
}

void side_expect_received(Side *side, int run) { write_blocks(side, run, side->expected, false); }

/* The block that a byte belongs to, or -1; the position in it. */
static int find_block(const Side *side, MPI_Aint offset, MPI_Aint *position) {
  for (int peer = 0; peer < side->group.peers; ++peer) {
    *position = layout_locate(side_layout(side, peer), side->count[peer], offset - side_offset(side, peer));
    if (*position >= 0) return peer;
  }
  return -1;
}

void side_check(const Side *side, Suite *suite, int run) {
  if (memcmp(side->allocation, side->expected, (size_t)side->bytes) == 0) return;
  MPI_Aint wrong = 0, at = -1;
  for (MPI_Aint k = 0; k < side->bytes; ++k)
    if (side->allocation[k] != side->expected[k]) {
      if (at < 0) at = k;
      ++wrong;
    }
  const char *buffer = side->sends ? "send" : "receive";
  const unsigned expected = side->expected[at], got = side->allocation[at];
  const MPI_Aint offset = at - origin_offset(side);
  MPI_Aint position = 0;
  const int peer = find_block(side, offset, &position);
  if (peer >= 0)
    suite_fail(suite,
               "run %d, %s buffer, block %s %d, byte %ld (item %ld, %ld bytes from the origin): expected 0x%02x, got "
               "0x%02x; %ld bytes differ",
               run, buffer, side->sends ? "to" : "from", peer, (long)position,
               (long)(position / side_layout(side, peer)->size), (long)offset, expected, got, (long)wrong);
  else
    suite_fail(suite,
               "run %d, %s buffer, gap or guard byte %ld bytes from the origin was written: expected 0x%02x, got "
               "0x%02x; %ld bytes differ",
               run, buffer, (long)offset, expected, got, (long)wrong);
}
