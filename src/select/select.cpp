#include "select/select.hpp"

#include <algorithm>

#include "verify/verify.hpp"

namespace swapmeet {

namespace {

bool covers(const Rule& rule, Collective collective, const Shape& shape) {
  return rule.collective == collective && rule.least_ranks <= shape.ranks && shape.ranks <= rule.most_ranks;
}

bool one_node(const Shape& shape) {
  if (shape.hierarchy.empty()) return true;
  const std::vector<std::int32_t>& nodes = shape.hierarchy.front();
  return std::ranges::all_of(nodes, [&](std::int32_t node) { return node == nodes.front(); });
}

/// Why messages within nodes cannot travel as `spec` says; "" if they can.
std::string unavailable(const Spec& spec, const Means& means) {
  if (spec.intra == Transport::mpi) return "";
  if (!means.shared_memory) return "no shared memory: " + means.problem;
  return spec.intra == Transport::cma && !means.single_copy ? "no single copy: " + means.problem : "";
}

Choice by_order(Collective collective, const Options& options, const Shape& shape, const Means& means) {
  const Spec& spec = *options.algorithm;
  std::string problem = unsuitable(spec, shape);
  if (problem.empty()) problem = unavailable(spec, means);
  const std::string of_sizes = of_unequal_blocks(collective) ? unsuitable_for_sizes(spec) : "";
  if (problem.empty() && of_sizes.empty()) return {spec, options.algorithm_from};
  if (problem.empty()) return {Spec{}, of_sizes};  // no reason to warn: it is an order for equal blocks
  const std::string reason = options.algorithm_from + "=" + quoted(to_text(spec), 200) + ": " + problem;
  return {Spec{}, reason, reason + "; using the MPI underneath on such communicators"};
}

}  // namespace

bool wants_nodes(Collective collective, const Shape& shape, const Options& options) {
  if (options.algorithm) {
    const Spec& spec = *options.algorithm;
    return spec.intra != Transport::mpi || spec.dimensions.kind == Dimensions::Kind::nodes || spec.family == Family::leaders;
  }
  return std::ranges::any_of(rules(), [&](const Rule& rule) { return rule.one_node && covers(rule, collective, shape); });
}

bool wants_means(Collective collective, const Shape& shape, const Options& options) {
  if (options.algorithm) return options.algorithm->intra != Transport::mpi;
  return wants_nodes(collective, shape, options) && one_node(shape);
}

Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options,
              const Means& means) {
  if (options.algorithm) return by_order(collective, options, shape, means);
  std::int64_t least = 0, most = INT64_MAX;  // sizes that the rules so far leave open, around this one
  for (const Rule& rule : rules()) {
    if (!covers(rule, collective, shape) || (rule.one_node && !one_node(shape))) continue;
    const Spec spec = *parse_spec(rule.spec);
    if (!unavailable(spec, means).empty() || !proved(spec, shape)) continue;
    if (block_bytes < rule.least_bytes) {
      most = std::min(most, rule.least_bytes - 1);
    } else if (block_bytes > rule.most_bytes) {
      least = std::max(least, rule.most_bytes + 1);
    } else {
      return {spec, "rule: " + std::string(rule.origin), "", std::max(least, rule.least_bytes),
              std::min(most, rule.most_bytes)};
    }
  }
  return {Spec{}, "no rule of the automatic choice is faster here", "", least, most};
}

}  // namespace swapmeet
