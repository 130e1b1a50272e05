/// All messages of a direct all-to-all on a network, and what they share: ranks and links.
#pragma once

#include <span>

#include "network/placement.hpp"
#include "network/routing.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// What carries no more than its capacity at a time: the sending side of each rank, then the receiving side of each,
/// then links. A rank sends one block at a time, and receives one.
struct Resources {
  Rank ranks = 0;
  std::vector<std::int32_t> capacity;

  Resources(const Network& network, Rank ranks);
  std::int32_t sending(Rank rank) const { return rank; }
  std::int32_t receiving(Rank rank) const { return ranks + rank; }
  std::int32_t link(std::int32_t number) const { return 2 * ranks + number; }
};

/// Bytes of each message, [source · P + destination]. None: all are alike, and what is counted are blocks.
using Weights = std::span<const std::int64_t>;

/// The least time of an all-to-all, in slots: one slot is the time in which a rank sends one block, or with weights one
/// byte.
struct Bound {
  std::int64_t slots = 0;                    ///< the largest of the three
  std::int64_t link = 0;                     ///< of links between switches: blocks over capacity, rounded up
  std::int64_t injection = 0, ejection = 0;  ///< of ranks, and of the links of hosts
  std::int32_t busiest_link = -1;            ///< number of a link between switches
  double busiest_blocks = 0;                 ///< on it, over its capacity
};

Bound bound(const Routing& routing, const Placement& placement, Weights weights = {});

/// What a schedule asks of the network, round by round; a round is what is in flight together if all ranks keep in
/// step.
struct NetworkLoad {
  std::vector<std::int64_t> largest;  ///< of each round: blocks over capacity, rounded up, of the busiest link or rank
  std::vector<std::int64_t> blocks;   ///< of each link, in all rounds
  std::int64_t slots() const;         ///< all rounds, one after the other
};

/// Of any schedule, `order` being that of Shape; with weights of a direct exchange, in bytes. Requires unsuitable() of
/// the spec to be empty for so many ranks.
NetworkLoad network_load(const Routing& routing, const Placement& placement, const Spec& spec,
                         const std::shared_ptr<const SlotRows>& order = {}, Weights weights = {});

/// Of a peer order whose i-th message is sent in round i: a rank whose turn is its own is idle for a round. (In a
/// schedule it is not, and is a round ahead of others from there on.)
NetworkLoad order_load(const Routing& routing, const Placement& placement, Order order, std::uint64_t seed);

}  // namespace swapmeet
