/* Counts, displacements and buffers. Everything follows from the description and two ids, so that either end of a
 * message computes the other's part without communication. */
#include "side.h"

#include <stdlib.h>
#include <string.h>

#include "oracle.h"

enum { FAR_AWAY = 12345678, ALIGNMENT = 16 };

/* Element numbers are powers of two: the larger size is a multiple of the smaller. */
MPI_Aint unit_bytes(const Exchange *exchange) {
  if (exchange->types_by_rank || exchange->types_by_peer) return type_largest_size(exchange->send);
  const MPI_Aint send = type_size(exchange->send), recv = type_size(exchange->recv);
  return send > recv ? send : recv;
}

/* Units that source sends to destination. In place, both directions must agree: the pair counts, not its order. */
static MPI_Aint block_units(const Exchange *exchange, int ranks, int source, int destination) {
  const MPI_Aint unit = unit_bytes(exchange) > 0 ? unit_bytes(exchange) : 1;
  const MPI_Aint full = (exchange->block_bytes + unit - 1) / unit;
  if (exchange->in_place && source > destination) {
    const int larger = source;
    source = destination;
    destination = larger;
  }
  if (exchange->workload)
    return ((MPI_Aint)workload_bytes(exchange->workload, exchange->seed, ranks, source, destination) + unit - 1) / unit;
  const uint64_t random = oracle_key(exchange->seed + 1, source, destination);
  const int changed = exchange->changed_pair;
  if (changed > 0 && source == (changed - 1) % ranks && destination == changed % ranks) return full + 1;
  switch (exchange->pattern) {
    case ZERO: return 0;
    case ZERO_PAIRS: return random % 2 ? full : 0;
    case ZERO_RANKS: return source % 3 == 1 || destination % 4 == 2 ? 0 : full;
    case SKEWED: return source == 0 && destination == ranks - 1 ? full : 1 + (MPI_Aint)(random % 2);
    case SPARSE: return random % 8 == 0 ? full : 0;
    case VARIED: return (MPI_Aint)(random % (uint64_t)(2 * full + 1));
    default: return full;
  }
}

static TypeId side_type(const Side *side, int peer) {
  const Exchange *exchange = side->exchange;
  const TypeId type = side->sends ? exchange->send : exchange->recv;
  if (exchange->types_by_peer) return type_rotate(type, (side->group.me + (side->sends ? 5 : 3) * peer) % 16);
  return exchange->types_by_rank ? type_rotate(type, side->group.me % 16) : type;
}

static void set_counts(Side *side) {
  const Exchange *exchange = side->exchange;
  const int ranks = side->group.peers;
  for (int peer = 0; peer < ranks; ++peer) {
    const MPI_Aint size = type_size(side_type(side, peer));
    const int id = side->group.first_peer + peer;
    const MPI_Aint units = side->sends ? block_units(exchange, ranks, side->group.me, id)
                                       : block_units(exchange, ranks, id, side->group.me);
    /* Empty types: the two ends may well differ in count. */
    side->count[peer] = size > 0 ? units * unit_bytes(exchange) / size : units * (side->sends ? 3 : 5);
  }
}

/* The order in which the blocks lie in memory. Fisher and Yates. */
static void set_order(int *order, int blocks, Placement placement, uint64_t seed) {
  for (int k = 0; k < blocks; ++k) order[k] = placement == BACKWARDS ? blocks - 1 - k : k;
  if (placement != MIXED_ORDER) return;
  for (int k = blocks - 1; k > 0; --k) {
    const int other = (int)(oracle_mix(seed + (uint64_t)k) % (uint64_t)(k + 1));
    const int kept = order[k];
    order[k] = order[other];
    order[other] = kept;
  }
}

/* Where blocks are placed one by one: what one takes, from `first` to `last`, in items. */
typedef struct {
  MPI_Aint first, last, alignment;
} Room;

/* The same in bytes where each block has a type of its own. */
static Room room_of(const Side *side, int peer) {
  const MPI_Aint count = side->count[peer];
  if (!side->exchange->types_by_peer) return (Room){0, count, 1};
  const Layout *layout = side_layout(side, peer);
  if (count == 0 || layout->size == 0) return (Room){0, 0, ALIGNMENT};
  return (Room){layout->low, (count - 1) * layout->extent + layout->high, ALIGNMENT};
}

static MPI_Aint rounded_up(MPI_Aint value, MPI_Aint alignment) {
  while (value % alignment != 0) ++value;
  return value;
}

static void set_displacements(Side *side) {
  const Exchange *exchange = side->exchange;
  const Placement placement = side->sends ? exchange->send_placement : exchange->recv_placement;
  const int peers = side->group.peers;
  if (placement == SAME_BLOCK || placement == OVERLAPPING) {
    const MPI_Aint size = type_size(side_type(side, 0));
    const MPI_Aint step = placement == OVERLAPPING && size > 0 ? unit_bytes(exchange) / size : 0;
    for (int peer = 0; peer < peers; ++peer) side->displacement[peer] = peer * step;
    return;
  }
  int *order = malloc((size_t)peers * sizeof *order);
  set_order(order, peers, placement, exchange->seed + (uint64_t)side->group.me);
  MPI_Aint next = 0;
  for (int k = 0; k < peers; ++k) {
    const int peer = order[k];
    const Room room = room_of(side, peer);
    side->displacement[peer] = rounded_up(next - room.first, room.alignment);
    next = side->displacement[peer] + room.last;
    if (placement != DENSE) next += room.alignment * (1 + (k * 7) % 3);
    /* The displacement of nothing means nothing. */
    if (placement != DENSE && side->count[peer] == 0) side->displacement[peer] = peer % 2 ? FAR_AWAY : -FAR_AWAY;
  }
  if (placement == BELOW_ZERO)
    for (int peer = 0; peer < peers; ++peer) side->displacement[peer] -= rounded_up(next + 2, ALIGNMENT);
  free(order);
}

/* Items from the first to the last that hold data. */
static MPI_Aint width_in_items(const Side *side) {
  MPI_Aint first = 0, last = 0;
  bool any = false;
  for (int peer = 0; peer < side->group.peers; ++peer) {
    if (side->count[peer] == 0) continue;
    const MPI_Aint start = side->displacement[peer], end = start + side->count[peer];
    if (!any || start < first) first = start;
    if (!any || end > last) last = end;
    any = true;
  }
  return last > first ? last - first : 1;
}

/* Types of their own come before the displacements, which count bytes of them; one type for all comes after, for its
 * items may be columns of the whole buffer. */
static void set_layouts(Side *side) {
  const int peers = side->group.peers;
  if (side->exchange->types_by_peer) {
    side->layouts = calloc((size_t)peers, sizeof *side->layouts);
    for (int peer = 0; peer < peers; ++peer)
      layout_make(&side->layouts[peer], side_type(side, peer), side->count[peer] > 0 ? side->count[peer] : 1);
    set_displacements(side);
    return;
  }
  set_displacements(side);
  side->layouts = calloc(1, sizeof *side->layouts);
  layout_make(side->layouts, side_type(side, 0), width_in_items(side));
  for (int peer = 0; has_types(side->exchange->collective) && peer < peers; ++peer)
    if (side->count[peer] > 0) side->displacement[peer] *= side->layouts->extent;
}

static void set_bounds(Side *side) {
  bool any = false;
  side->low = side->high = 0;
  for (int peer = 0; peer < side->group.peers; ++peer) {
    const Layout *layout = side_layout(side, peer);
    if (side->count[peer] == 0 || layout->size == 0) continue;
    const MPI_Aint first = side_offset(side, peer);
    const MPI_Aint low = first + layout->low;
    const MPI_Aint high = first + (side->count[peer] - 1) * layout->extent + layout->high;
    if (!any || low < side->low) side->low = low;
    if (!any || high > side->high) side->high = high;
    any = true;
  }
}

const Layout *side_layout(const Side *side, int peer) {
  return &side->layouts[side->exchange->types_by_peer ? peer : 0];
}

MPI_Aint side_offset(const Side *side, int peer) {
  const MPI_Aint unit = has_types(side->exchange->collective) ? 1 : side->layouts->extent;
  return side->displacement[peer] * unit;
}

static int number_of_layouts(const Side *side) { return side->exchange->types_by_peer ? side->group.peers : 1; }

bool side_agrees_with_mpi(const Side *side) {
  for (int k = 0; k < number_of_layouts(side); ++k)
    if (!layout_agrees_with_mpi(&side->layouts[k])) return false;
  return true;
}

void side_open(Side *side, const Exchange *exchange, Group group, bool sends) {
  memset(side, 0, sizeof *side);
  side->exchange = exchange;
  side->group = group;
  side->sends = sends;
  side->count = calloc((size_t)group.peers, sizeof *side->count);
  side->displacement = calloc((size_t)group.peers, sizeof *side->displacement);
  set_counts(side);
  set_layouts(side);
  set_bounds(side);
}

void side_close(Side *side) {
  for (int k = 0; k < number_of_layouts(side); ++k) layout_free(&side->layouts[k]);
  free(side->layouts);
  free(side->count);
  free(side->displacement);
  side_free(side);
}
