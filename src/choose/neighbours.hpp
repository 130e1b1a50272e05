/// The choice for exchanges with the neighbours of a virtual topology, by what all ranks share: not by sizes, nor by how
/// many neighbours one rank has.
#pragma once

#include <array>

#include "choose/select.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// By order, or on one node. Pure, as choose(). Never a spec that is unsuitable for neighbours. `host_is_slow`: the host MPI was measured to be slower than
/// shared memory (docs/measurements/neighbours.md).
Choice choose_for_neighbours(const Options& options, const Means& means, bool host_is_slow);

/// Messages of a rank and blocks in them, within its node and between nodes, in each of three phases at most, of each exchange
/// that is priced.
using NeighbourWork = std::array<double, 36>;

NeighbourWork work_of(const Surroundings& all, Rank rank);

/// The automatic choice on several nodes: leaders, where small blocks are expected to take less than 90 % of the time that the
/// host MPI takes, which is expected to send each directly; larger blocks, for which that is not so, are sent directly. Only
/// where each rank has a core: else each rank on the way of a block waits for one (docs/measurements/neighbours-clusters.md).
/// `most`: each number the largest of any rank. Pure, as choose().
Choice choose_between_nodes(const Shape& shape, const NeighbourWork& most, const Means& means,
                            const Knowledge& knowledge);

}  // namespace swapmeet
