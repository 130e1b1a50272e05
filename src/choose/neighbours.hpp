/// The choice for exchanges with the neighbours of a virtual topology, by what all ranks share: not by sizes, nor by how
/// many neighbours one rank has.
#pragma once

#include "choose/select.hpp"

namespace swapmeet {

/// Pure, as choose(). Never a spec that is unsuitable for neighbours. `host_is_slow`: the host MPI was measured to be slower than
/// shared memory (docs/measurements/neighbours.md). On several nodes no gain was (docs/measurements/neighbours-clusters.md).
Choice choose_for_neighbours(const Shape& shape, const Options& options, const Means& means, bool host_is_slow);

}  // namespace swapmeet
