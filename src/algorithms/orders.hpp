/// Peer orders: in which order a rank meets all ranks, itself included.
///
///   shift     sends to rank+i, receives from rank-i (mod P)                                     Source: fft, thakur2005
///   xor       exchanges with rank^i; P a power of two                                           Source: thakur2005
///   random    sends to ranks[(i+rank) mod P]: row `rank` of an anti-circulant matrix whose first row is a random
///             permutation; receives from the rank whose row has `rank` in column i      Source: slimfly, algorithms 2, 3
///   scatter   sends to and receives from ranks[i], the same random permutation on all ranks     Source: slimfly, alg. 1
#pragma once

#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Peers {
  std::vector<Rank> to;    ///< shape (P,): a permutation of all ranks
  std::vector<Rank> from;  ///< shape (P,): likewise
};

Peers peer_order(Order order, const Shape& shape, Rank rank, std::uint64_t seed);

/// 0..n-1 in random order: Fisher-Yates, every permutation equally likely, the same for a seed on every machine.
std::vector<Rank> shuffled_ranks(Rank n, std::uint64_t seed);

}  // namespace swapmeet
