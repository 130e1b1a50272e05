/// The choice for neighbourhood collectives, which exchange blocks with the neighbours in a virtual topology. It uses
/// only what all ranks share, so neither block sizes nor the number of neighbours of a rank.
#pragma once

#include <utility>
#include <vector>

#include "choose/select.hpp"

namespace swapmeet {

/// Returns the choice. Pure, like choose(), and never a spec that is unsuitable for neighbours. `host_is_slow`: the
/// host MPI was measured to be slower than shared memory (docs/measurements/neighbours.md). On several nodes the
/// automatic choice is the host MPI, since the gain of leaders depends on the graph.
Choice choose_for_neighbours(const Shape& shape, const Options& options, const Means& means, bool host_is_slow);

/// Whether online tuning tries leaders on calls that choose_for_neighbours() leaves to the host MPI.
bool tries_leaders(const Shape& shape, const Options& options);

/// Returns the specs that are tried then: one leader per node (few messages between nodes), and all ranks as leaders.
std::vector<Spec> leaders_to_try(const Means& means);

/// The work of an exchange with the neighbours of a communicator.
struct NeighbourWork {
  std::vector<std::pair<Spec, Work>> leaders;
  Work host;
  double blocks = 0;  ///< of all ranks
};

/// Returns the candidates for blocks of `block_bytes` on average: the host MPI, then the specs with leaders. Only the
/// host MPI if blocks are so large that leaders would not forward them.
std::vector<Expectation> candidates_for_neighbours(const CallKind& kind, std::int64_t block_bytes,
                                                   const NeighbourWork& work, const Knowledge& knowledge);

}  // namespace swapmeet
