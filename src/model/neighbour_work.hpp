/// What an exchange with neighbours makes ranks and nodes do. Each rank knows its own part; what it takes is made of the
/// most of any rank.
#pragma once

#include <span>
#include <vector>

#include "model/work.hpp"
#include "schedule/flow_builder.hpp"

namespace swapmeet {

/// The part of one rank: `count` numbers for each phase.
struct NeighbourPart {
  enum Number : std::uint8_t {
    messages_within,
    blocks_within,
    messages_between,
    blocks_between,
    copied,
    batches,
    count
  };
  std::vector<double> most;  ///< the more of what it sends and what it receives
  std::vector<double> sent;  ///< which is received elsewhere: the sums over all ranks count each message once
};
NeighbourPart neighbour_part(const SlotFlow& flow, const Nodes& nodes);

/// The work, by the most of `most` of any rank, and the sums of `sent` over all ranks: a node has its share of those. `shared`:
/// as of Work.
Work neighbour_work(std::span<const double> most, std::span<const double> sums, Rank ranks, std::int32_t nodes,
                    bool shared);

}  // namespace swapmeet
