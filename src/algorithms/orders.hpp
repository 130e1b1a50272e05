/// Peer orders: in which order a rank exchanges with all ranks, itself included.
///
///   shift     sends to rank+i, receives from rank-i (mod P)                              Source: fft, thakur2005
///   xor       exchanges with rank^i; P a power of two                                    Source: thakur2005
///   random    sends to ranks[(i+rank) mod P]: row `rank` of an anti-circulant matrix whose first row is a random
///             permutation; receives from the rank whose row has `rank` in column i      Source: slimfly, alg. 2, 3
///   topology  sends to each rank in its slot of a table, in which no link of the network is asked for too much:
///             slot_order()
///   groups    sends to a member of another group than the rest of its group: algorithms/group_order.hpp
///   scatter   sends to and receives from ranks[i], the same random permutation on all ranks      Source: slimfly, alg.
///             1
#pragma once

#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Peers {
  std::vector<Rank> to;    ///< shape (P,): a permutation of all ranks
  std::vector<Rank> from;  ///< shape (P,): likewise
};

/// Not of order=topology and groups.
Peers peer_order(Order order, const Shape& shape, Rank rank, std::uint64_t seed);

/// The peer of a member of a computed order in one slot.
struct SlotPeer {
  std::int32_t slot = 0, other = 0;
};

/// All others, by slot: `slots` is what a row of SlotRows says of each.
std::vector<SlotPeer> slot_order(std::span<const std::int32_t> slots);

/// 0..n-1 in random order: Fisher-Yates, every permutation equally likely, the same for a seed on every machine.
std::vector<Rank> shuffled_ranks(Rank n, std::uint64_t seed);

}  // namespace swapmeet
