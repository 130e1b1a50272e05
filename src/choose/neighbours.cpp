#include "choose/neighbours.hpp"

#include "algorithms/neighbours.hpp"

namespace swapmeet {

namespace {

/// The largest block that leaders forward: forwarding larger ones has gained nothing
/// (docs/measurements/neighbours-clusters.md).
constexpr std::int64_t most_led_bytes = 4096;

Choice by_request(const Options& options, const Means& means) {
  Spec spec = *options.algorithm;
  if (spec.intra == Transport::rows) spec.intra = Transport::automatic;  // rows exist for all-to-all exchanges only
  std::string problem = unsuitable_for_neighbours(spec);
  if (problem.empty()) problem = unavailable(spec, means);
  if (problem.empty()) return {spec, options.algorithm_from};
  return {Spec{}, options.algorithm_from + "=" + in_quotes(to_text(*options.algorithm), 200) + ": " + problem};
}

}  // namespace

Choice choose_for_neighbours(const Shape& shape, const Options& options, const Means& means, bool host_is_slow) {
  if (options.algorithm) return by_request(options, means);
  if (!host_is_slow && Nodes(shape).count() == 1)
    return {Spec{}, "by default the host MPI, which is as fast with large blocks"};
  if (Nodes(shape).count() > 1) return {Spec{}, "by default the host MPI where neighbours are on several nodes"};
  Spec spec{.family = Family::direct};
  spec.intra = Transport::automatic;
  const std::string problem = unavailable(spec, means);
  return problem.empty() ? Choice{spec, "all ranks share a node"} : Choice{Spec{}, problem};
}

bool tries_leaders(const Shape& shape, const Options& options) {
  const Nodes nodes(shape);
  return options.trials_share > 0 && !options.algorithm && nodes.count() > 1 && nodes.largest() > 1;
}

std::vector<Spec> leaders_to_try(const Means& means) {
  std::vector<Spec> specs;
  for (const std::int32_t of_each_node : {1, 0}) {
    Spec spec{.family = Family::leaders};
    spec.leaders = of_each_node;
    spec.intra = means.shared_memory ? Transport::automatic : Transport::mpi;
    spec.direct_bytes = most_led_bytes;
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<Expectation> candidates_for_neighbours(const CallKind& kind, std::int64_t block_bytes,
                                                   const NeighbourWork& work, const Knowledge& knowledge) {
  PricedSpecs priced(knowledge.as_found(kind.mean_per_node()), knowledge.model, HostPrice({work.host}));
  if (block_bytes <= most_led_bytes)
    for (const auto& [spec, of_spec] : work.leaders) priced.add(spec, of_spec);
  return expectations(kind, priced, knowledge.evidence, knowledge.doubt);
}

}  // namespace swapmeet
