/// The choice for exchanges with the neighbours of a virtual topology, by what all ranks share: not by sizes, nor by how
/// many neighbours one rank has.
#pragma once

#include <utility>
#include <vector>

#include "choose/select.hpp"

namespace swapmeet {

/// Pure, as choose(). Never a spec that is unsuitable for neighbours. `host_is_slow`: the host MPI was measured to be slower than
/// shared memory (docs/measurements/neighbours.md). On several nodes the host MPI: what leaders gain depends on the graph.
Choice choose_for_neighbours(const Shape& shape, const Options& options, const Means& means, bool host_is_slow);

/// Whether the running application tries leaders on calls that are left to the host MPI by choose_for_neighbours().
bool tries_leaders(const Shape& shape, const Options& options);

/// What is tried then: few messages between nodes, and more of them by all ranks.
std::vector<Spec> leaders_to_try(const Means& means);

/// The work of exchanges with the neighbours of a communicator.
struct NeighbourWork {
  std::vector<std::pair<Spec, Work>> leaders;
  Work host;
  double blocks = 0;  ///< of all ranks together
};

/// As candidates(): the host MPI, then what may be tried for blocks of `block_bytes` on average. Nothing but the host MPI for
/// those that leaders would not pass on.
std::vector<Expectation> candidates_for_neighbours(const CallKind& kind, std::int64_t block_bytes,
                                                   const NeighbourWork& work, const Knowledge& knowledge);

}  // namespace swapmeet
