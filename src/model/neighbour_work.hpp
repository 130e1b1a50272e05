/// Work of ranks and nodes in an exchange with neighbours of a virtual topology. Each rank knows only its own part; the
/// work is made from the largest parts of all ranks and from their sums.
#pragma once

#include <span>
#include <vector>

#include "model/work.hpp"
#include "schedule/flow_builder.hpp"

namespace swapmeet {

/// Part of one rank: `count` numbers for each phase.
struct NeighbourPart {
  enum Number : std::uint8_t {
    messages_within,  ///< within the node
    blocks_within,
    messages_between,  ///< between nodes
    blocks_between,
    copied,   ///< blocks that may have to be packed or unpacked
    batches,  ///< rounds of messages
    count
  };
  std::vector<double> most;  ///< the larger of the numbers sent and received
  /// the numbers sent; each message is received elsewhere, so sums over all ranks count it once
  std::vector<double> sent;
};
/// Returns the part of the rank of `flow`.
NeighbourPart neighbour_part(const SlotFlow& flow, const Nodes& nodes);

/// Returns the work. `most` is the maximum of NeighbourPart::most over all ranks, `sums` is the sum of
/// NeighbourPart::sent. Each node gets an equal share of the sums. `shared`: as in Work.
Work neighbour_work(std::span<const double> most, std::span<const double> sums, Rank ranks, std::int32_t nodes,
                    bool shared);

}  // namespace swapmeet
