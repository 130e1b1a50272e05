/// The load of a direct all-to-all on a network: its messages share ranks and links.
#pragma once

#include <span>

#include "network/placement.hpp"
#include "network/routing.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// The resources with a capacity: the sending side of each rank, then the receiving side of each rank, then the links.
/// A rank sends one block at a time, and receives one.
struct Resources {
  Rank ranks = 0;
  std::vector<std::int32_t> capacity;

  Resources(const Network& network, Rank ranks);
  std::int32_t sending(Rank rank) const { return rank; }
  std::int32_t receiving(Rank rank) const { return ranks + rank; }
  std::int32_t link(std::int32_t number) const { return 2 * ranks + number; }
};

/// The bytes of each message, [source · P + destination]. Empty: all messages are equal, and loads are in blocks.
using Weights = std::span<const std::int64_t>;

/// A lower bound on the time of an all-to-all, in slots. A slot is the time in which a rank sends one block, or one
/// byte if there are weights.
struct Bound {
  std::int64_t slots = 0;                    ///< maximum of the following three
  std::int64_t link = 0;                     ///< for links between switches: blocks over capacity, rounded up
  std::int64_t injection = 0, ejection = 0;  ///< for ranks and the links of hosts
  std::int32_t busiest_link = -1;            ///< number of a link between switches; -1: none
  double busiest_blocks = 0;                 ///< blocks on it over its capacity
};

/// Returns the lower bound of an all-to-all.
Bound bound(const Routing& routing, const Placement& placement, Weights weights = {});

/// The load of a schedule on the network, round by round. A round is the set of messages that are in flight together if
/// all ranks keep in step.
struct NetworkLoad {
  std::vector<std::int64_t> largest;  ///< for each round: blocks over capacity, rounded up, of the busiest link or rank
  std::vector<std::int64_t> blocks;   ///< for each link, in all rounds
  std::int64_t slots() const;         ///< sum of `largest`: the rounds one after the other
};

/// Returns the load of any schedule, where `order` is that of Shape; for a direct exchange with weights in bytes.
/// Requires unsuitable() of the spec to be empty for this number of ranks.
NetworkLoad network_load(const Routing& routing, const Placement& placement, const Spec& spec,
                         const std::shared_ptr<const SlotRows>& order = {}, Weights weights = {});

/// Returns the load of a peer order whose i-th message is sent in round i. A rank whose peer is itself is idle in that
/// round. (In a schedule it is not, and is then one round ahead of the others.)
NetworkLoad order_load(const Routing& routing, const Placement& placement, Order order, std::uint64_t seed);

}  // namespace swapmeet
