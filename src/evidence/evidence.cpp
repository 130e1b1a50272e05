#include "evidence/evidence.hpp"

#include <algorithm>
#include <utility>

namespace swapmeet {

Evidence::Evidence(const CallKind& kind, Spec spec, std::int64_t calls, double mean_s, double spread_s, Measurer by,
                   std::int64_t date, CallsMade made)
    : collective(kind.collective), ranks{kind.ranks, kind.ranks}, nodes{kind.nodes, kind.nodes},
      per_node{kind.least_per_node, kind.most_per_node}, bytes(bytes_of_class(kind.size_class)), direct(kind.direct),
      spec(std::move(spec)), calls(calls), mean_s(mean_s), spread_s(spread_s), by(by), date(date), made(made) {}

CallKind Evidence::kind() const {
  return {.collective = collective,
          .ranks = static_cast<Rank>(ranks.least),
          .nodes = static_cast<std::int32_t>(nodes.least),
          .least_per_node = static_cast<Rank>(per_node.least),
          .most_per_node = static_cast<Rank>(per_node.most),
          .size_class = size_class(),
          .direct = direct};
}

bool plausible(const Evidence& evidence) {
  const CallKind kind = evidence.kind();
  const auto of_nodes = [&](Rank per_node) { return std::int64_t{per_node} * kind.nodes; };
  return kind.ranks >= 2 && kind.nodes >= 1 && kind.least_per_node >= 1 && kind.least_per_node <= kind.most_per_node &&
         of_nodes(kind.least_per_node) <= kind.ranks && kind.ranks <= of_nodes(kind.most_per_node) &&
         kind.size_class >= unknown_class && kind.size_class <= most_size_class &&
         (of_unequal_blocks(kind.collective) || kind.size_class != unknown_class) && evidence.calls >= 1 &&
         evidence.mean_s >= least_seconds && evidence.mean_s <= most_seconds && evidence.spread_s >= 0 &&
         evidence.spread_s <= most_seconds;
}

Range bytes_of_class(std::int32_t size_class) {
  constexpr std::int32_t last = 60;  // of which the sizes fit into 64 bits
  if (size_class < 0) return {};
  if (size_class == 0) return {0, 1};
  size_class = std::min(size_class, last);
  const auto first_of = [](std::int32_t wanted) {  // 2^wanted is in the class, half of it is not
    std::int64_t below = std::int64_t{1} << (wanted - 1), within = 2 * below;
    while (within - below > 1) {
      const std::int64_t middle = below + (within - below) / 2;
      (block_class(middle) >= wanted ? within : below) = middle;
    }
    return within;
  };
  return {first_of(size_class), first_of(size_class + 1) - 1};
}

}  // namespace swapmeet
