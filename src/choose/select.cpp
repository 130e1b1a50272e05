#include "choose/select.hpp"

#include <algorithm>

#include "algorithms/generate.hpp"
#include "choose/limits.hpp"
#include "verify/verify.hpp"

namespace swapmeet {

namespace {

/// How many nodes the ranks are on, and how many ranks the smallest has. One node if nobody says, for then only ranks
/// of one node ask.
struct Nodes {
  std::int64_t count = 1, fewest = 1;
};
Nodes nodes_of(const Shape& shape) {
  if (shape.hierarchy.empty()) return {1, shape.ranks};
  std::vector<std::int32_t> nodes = shape.hierarchy.front();
  std::ranges::sort(nodes);
  Nodes found{0, shape.ranks};
  for (auto begin = nodes.begin(); begin != nodes.end(); ++found.count) {
    const auto end = std::upper_bound(begin, nodes.end(), *begin);
    found.fewest = std::min<std::int64_t>(found.fewest, end - begin);
    begin = end;
  }
  return found;
}

bool fits(const Rule& rule, const Nodes& nodes) {
  return rule.nodes.has(nodes.count) && rule.per_node.has(nodes.fewest);
}

bool concerns(const Rule& rule, Collective collective, Rank ranks) {
  return rule.collective == collective && rule.ranks.has(ranks);
}

/// Calls `visit` for each rule for such calls on so many ranks, the first one first, until it returns true. Whether it
/// did.
template <class Visit>
bool any_rule(Collective collective, Rank ranks, const Options& options, Visit visit) {
  const auto visited = [&](const Rule& rule) { return concerns(rule, collective, ranks) && visit(rule); };
  return std::ranges::any_of(options.tuning.rules, visited) || std::ranges::any_of(options.remembered, visited) ||
         std::ranges::any_of(rules(), visited);
}

/// Why messages within nodes cannot travel as `spec` says; "" if they can.
std::string unavailable(const Spec& spec, const Means& means) {
  if (spec.intra == Transport::mpi) return "";
  if (!means.shared_memory) return "no shared memory: " + means.problem;
  return spec.intra == Transport::cma && !means.single_copy ? "no single copy: " + means.problem : "";
}

/// Narrows the choice to the limits.
void limit(Choice& choice, Collective collective, const Shape& shape, std::int64_t block_bytes,
           const Options& options) {
  const Limited within = within_limits(choice.spec, collective, shape, block_bytes, options);
  choice.least_bytes = std::max(choice.least_bytes, within.least_bytes);
  choice.most_bytes = std::min(choice.most_bytes, within.most_bytes);
  if (within.problem.empty()) return;
  const std::string wanted = to_text(choice.spec), instead = to_text(within.spec);
  if (options.algorithm)
    choice.problem = choice.reason + "=" + quoted(wanted, 200) + ": " + within.problem + "; using " +
                     (within.spec.family == Family::native ? "the host MPI" : quoted(instead, 200)) +
                     " on such communicators";
  choice.reason += ", instead of " + wanted + ": " + within.problem;
  choice.spec = within.spec;
}

Choice by_order(const Options& options, const Shape& shape, const Means& means) {
  const Spec& spec = *options.algorithm;
  std::string problem = unsuitable(spec, shape);
  if (problem.empty()) problem = unavailable(spec, means);
  if (problem.empty()) return {spec, options.algorithm_from};
  const std::string reason = options.algorithm_from + "=" + quoted(to_text(spec), 200) + ": " + problem;
  return {Spec{}, reason, reason + "; using the host MPI on such communicators"};
}

}  // namespace

std::vector<Spec> candidates(Collective collective, const Shape& shape, std::int64_t block_bytes,
                             const Options& options, const Means& means) {
  std::vector<Spec> specs;
  const Nodes nodes = nodes_of(shape);
  for (const Rule& rule : trial_rules()) {
    if (!concerns(rule, collective, shape.ranks) || !fits(rule, nodes) || !rule.bytes.has(block_bytes) ||
        !unavailable(rule.spec, means).empty() || !proved(rule.spec, shape))
      continue;
    const Spec spec = within_limits(rule.spec, collective, shape, any_block_bytes, options).spec;
    if (spec.family != Family::native && std::ranges::count(specs, spec) == 0) specs.push_back(spec);
  }
  return specs;
}

std::string give_up_order(const Spec& spec, const std::string& problem, Options& options) {
  const std::string who =
      options.algorithm ? options.algorithm_from : "tuning file " + quoted(options.tuning.file, 200) + ": use";
  options.algorithm.reset();
  std::erase_if(options.tuning.rules, [&](const Rule& rule) {
    return rule.spec.order == Order::topology && rule.spec.source == spec.source;
  });
  return who + "=" + quoted(to_text(spec), 200) + ": " + problem + "; using the automatic choice on such communicators";
}

bool tuned(Collective collective, const Shape& shape, const Options& options) {
  return std::ranges::any_of(options.tuning.rules,
                             [&](const Rule& rule) { return concerns(rule, collective, shape.ranks); });
}

bool tries(Collective collective, const Shape& shape, const Options& options) {
  return options.trials_share > 0 && !options.algorithm && !tuned(collective, shape, options) &&
         std::ranges::any_of(trial_rules(), [&](const Rule& rule) { return concerns(rule, collective, shape.ranks); });
}

bool wants_nodes(Collective collective, const Shape& shape, const Options& options) {
  const auto wants = [](const Spec& spec) {
    return spec.intra != Transport::mpi || spec.dimensions.kind == Dimensions::Kind::nodes ||
           spec.family == Family::leaders;
  };
  if (options.algorithm) return wants(*options.algorithm);
  return any_rule(collective, shape.ranks, options,
                  [&](const Rule& rule) { return rule.nodes.bounded() || wants(rule.spec); });
}

bool wants_means(Collective collective, const Shape& shape, const Options& options) {
  if (options.algorithm) return options.algorithm->intra != Transport::mpi;
  return wants_nodes(collective, shape, options) && any_rule(collective, shape.ranks, options, [&](const Rule& rule) {
           return rule.spec.intra != Transport::mpi && fits(rule, nodes_of(shape));
         });
}

Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options,
              const Means& means) {
  if (options.algorithm) {
    Choice ordered = by_order(options, shape, means);
    limit(ordered, collective, shape, block_bytes, options);
    return ordered;
  }
  const Nodes nodes = nodes_of(shape);
  Choice choice{Spec{}, "no rule of the automatic choice is faster here"};
  Range open{0};  // sizes that the rules so far leave open, around this one
  any_rule(collective, shape.ranks, options, [&](const Rule& rule) {
    if (!fits(rule, nodes) || !unavailable(rule.spec, means).empty() || !proved(rule.spec, shape)) return false;
    if (block_bytes < rule.bytes.least) {
      open.most = std::min(open.most, rule.bytes.least - 1);
    } else if (block_bytes > rule.bytes.most) {
      open.least = std::max(open.least, rule.bytes.most + 1);
    } else {
      choice = {rule.spec, "rule: " + rule.origin};
      open = {std::max(open.least, rule.bytes.least), std::min(open.most, rule.bytes.most)};
      return true;
    }
    return false;
  });
  choice.least_bytes = open.least;
  choice.most_bytes = open.most;
  limit(choice, collective, shape, block_bytes, options);
  return choice;
}

}  // namespace swapmeet
