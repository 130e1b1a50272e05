#include "select/select.hpp"

#include "verify/verify.hpp"

namespace swapmeet {

namespace {

bool covers(const Rule& rule, Collective collective, const Shape& shape) {
  return rule.collective == collective && rule.least_ranks <= shape.ranks && shape.ranks <= rule.most_ranks;
}

Choice by_order(Collective collective, const Spec& spec, const Shape& shape) {
  if (spec.family == Family::bruck && collective != Collective::alltoall)
    return {Spec{}, "the family bruck serves Alltoall only, not " +
                        std::string(collective_names[static_cast<std::size_t>(collective)])};
  const std::string problem = unsuitable(spec, shape);
  if (problem.empty()) return {spec, "SWAPMEET_ALGORITHM"};
  const std::string reason = "SWAPMEET_ALGORITHM=\"" + to_text(spec) + "\": " + problem;
  return {Spec{}, reason, reason + "; using the MPI underneath on such communicators"};
}

}  // namespace

Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options) {
  if (options.algorithm) return by_order(collective, *options.algorithm, shape);
  std::int64_t next_least = INT64_MAX;  // where the next rule of larger blocks begins
  for (const Rule& rule : rules()) {
    if (!covers(rule, collective, shape)) continue;
    const Spec spec = *parse_spec(rule.spec);
    if (!proved(spec, shape)) continue;
    if (block_bytes < rule.least_bytes) next_least = std::min(next_least, rule.least_bytes);
    if (rule.least_bytes <= block_bytes && block_bytes <= rule.most_bytes)
      return {spec, "rule: " + std::string(rule.origin), "", std::min(rule.most_bytes, next_least - 1)};
  }
  return {Spec{}, "no rule of the automatic choice is faster here", "", next_least == INT64_MAX ? INT64_MAX : next_least - 1};
}

}  // namespace swapmeet
