/* The buffer of a side: guards, background, data, and the search for what went wrong. */
#include <stdlib.h>
#include <string.h>

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

void side_allocate(Side *side, int run) {
  /* Guards grow from run to run, so that the buffer moves. */
  const MPI_Aint guard = GUARD_BYTES + ALIGNMENT * run;
  MPI_Aint low = side->low;
  while (low % ALIGNMENT != 0) --low;
  side->bytes = guard + (side->high - low) + guard;
  free(side->allocation);
  free(side->expected);
  side->allocation = malloc((size_t)side->bytes);
  side->expected = malloc((size_t)side->bytes);
  side->origin = side->allocation + guard - low;
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
