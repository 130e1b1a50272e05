#include "algorithms/generate.hpp"

#include "algorithms/families.hpp"
#include "schedule/placement.hpp"

namespace swapmeet {

std::string unsuitable(const Spec& spec, const Shape& shape) {
  if (!forwards(spec) && spec.sizes != Sizes::automatic && spec.sizes != Sizes::padded)
    return "sizes=" + std::string(sizes_names[static_cast<std::size_t>(spec.sizes)]) +
           " is for the families bruck and leaders: in a direct exchange each end knows the sizes";
  if (spec.family == Family::native) return "";
  // Some slots of these orders may be idle, so there may be more of them than peers.
  const bool idle_slots = spec.order == Order::groups || spec.order == Order::topology;
  const bool one_round = spec.family == Family::direct && spec.segment_bytes == 0 &&
                         (spec.window == 0 || (spec.window >= shape.ranks - 1 && !idle_slots));
  if (spec.intra == Transport::rows && !one_round)
    return "intra=rows is for direct exchanges with window=all and segment=0: each rank writes to all others first";
  const Algorithm& algorithm = algorithm_of(spec.family);
  return algorithm.unsuitable ? algorithm.unsuitable(spec, shape) : "";
}

Flow flow(const Spec& spec, const Shape& shape, Rank rank) {
  return flow_of(algorithm_of(spec.family).flow(spec, shape, rank));
}

Schedule generate(const Spec& spec, const Shape& shape, Rank rank) {
  return place(algorithm_of(spec.family).flow(spec, shape, rank), spec, shape);
}

}  // namespace swapmeet
