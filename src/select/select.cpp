#include "select/select.hpp"

#include <algorithm>

#include "verify/verify.hpp"

namespace swapmeet {

namespace {

bool covers(const Rule& rule, Collective collective, const Shape& shape) {
  return rule.collective == collective && rule.least_ranks <= shape.ranks && shape.ranks <= rule.most_ranks;
}

Choice by_order(Collective collective, const Options& options, const Shape& shape) {
  const Spec& spec = *options.algorithm;
  const std::string problem = unsuitable(spec, shape);
  const std::string of_sizes = collective == Collective::alltoallv ? unsuitable_for_sizes(spec) : "";
  if (problem.empty() && of_sizes.empty()) return {spec, options.algorithm_from};
  if (problem.empty()) return {Spec{}, of_sizes};  // no reason to warn: it is an order for equal blocks
  const std::string reason = options.algorithm_from + "=" + quoted(to_text(spec), 200) + ": " + problem;
  return {Spec{}, reason, reason + "; using the MPI underneath on such communicators"};
}

}  // namespace

Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options) {
  if (options.algorithm) return by_order(collective, options, shape);
  std::int64_t least = 0, most = INT64_MAX;  // sizes that the rules so far leave open, around this one
  for (const Rule& rule : rules()) {
    if (!covers(rule, collective, shape)) continue;
    const Spec spec = *parse_spec(rule.spec);
    if (!proved(spec, shape)) continue;
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
