/// Peer orders: the order in which a rank exchanges with all ranks, itself included. In step i = 0..P-1, a rank
///
///   shift     sends to rank+i, receives from rank-i (mod P)                              Source: fft, thakur2005
///   xor       exchanges with rank^i; P a power of two                                    Source: thakur2005
///   random    sends to ranks[(i+rank) mod P]: row `rank` of an anti-circulant matrix whose first row is a random
///             permutation; receives from the rank whose row has `rank` in column i       Source: slimfly, alg. 2, 3
///   topology  sends to each rank in its slot of a table in which no network link exceeds its capacity: slot_order()
///   groups    in each slot, the members of a group send to different groups: algorithms/group_order.hpp
///   scatter   sends to and receives from ranks[i], the same random permutation on all ranks
///                                                                                        Source: slimfly, alg. 1
#pragma once

#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Peers {
  std::vector<Rank> to;    ///< shape (P,): a permutation of all ranks
  std::vector<Rank> from;  ///< shape (P,): likewise
};

/// Returns the peer order of one rank. For order=topology and order=groups it returns that of order=shift; an
/// exchange with a computed order uses slot_order() instead.
Peers peer_order(Order order, const Shape& shape, Rank rank, std::uint64_t seed);

/// The peer of a member in one slot of a computed order.
struct SlotPeer {
  std::int32_t slot = 0, other = 0;
};

/// Returns all other members sorted by slot. `slots` is a row of SlotRows: the slot of each member.
std::vector<SlotPeer> slot_order(std::span<const std::int32_t> slots);

/// Returns 0..n-1 in random order (Fisher-Yates). Every permutation is equally likely. The result is the same for a
/// seed on every machine.
std::vector<Rank> shuffled_ranks(Rank n, std::uint64_t seed);

}  // namespace swapmeet
