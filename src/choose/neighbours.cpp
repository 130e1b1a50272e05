#include "choose/neighbours.hpp"

#include "algorithms/neighbours.hpp"

namespace swapmeet {

namespace {

Choice by_order(const Options& options, const Means& means) {
  Spec spec = *options.algorithm;
  if (spec.intra == Transport::rows) spec.intra = Transport::automatic;  // rows are for exchanges of all with all
  std::string problem = unsuitable_for_neighbours(spec);
  if (problem.empty()) problem = unavailable(spec, means);
  if (problem.empty()) return {spec, options.algorithm_from};
  return {Spec{}, options.algorithm_from + "=" + in_quotes(to_text(*options.algorithm), 200) + ": " + problem};
}

}  // namespace

Choice choose_for_neighbours(const Shape& shape, const Options& options, const Means& means, bool host_is_slow) {
  if (options.algorithm) return by_order(options, means);
  if (!host_is_slow) return {Spec{}, "by default the host MPI, which is as fast with large blocks"};
  if (Nodes(shape).count() > 1) return {Spec{}, "by default the host MPI where neighbours are on several nodes"};
  Spec spec{.family = Family::direct};
  spec.intra = Transport::automatic;
  const std::string problem = unavailable(spec, means);
  return problem.empty() ? Choice{spec, "all ranks share a node"} : Choice{Spec{}, problem};
}

}  // namespace swapmeet
