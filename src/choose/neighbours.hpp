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
using NeighbourWork = std::array<double, 48>;

NeighbourWork work_of(const Surroundings& all, Rank rank);

/// The automatic choice on several nodes: what is expected to take least for small blocks, the host MPI sending each
/// directly. By leaders only if that is less than 90 % of the host MPI's time and each rank has a core: else each rank on the
/// way of a block waits for one (docs/measurements/neighbours-clusters.md); larger blocks, for which it is not, are sent
/// directly. Shared memory within nodes only if `host_is_slow`. `most`: each number the largest of any rank. Pure, as choose().
Choice choose_between_nodes(const Shape& shape, const NeighbourWork& most, const Means& means,
                            const Knowledge& knowledge, bool host_is_slow);

}  // namespace swapmeet
