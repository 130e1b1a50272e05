#include "algorithms/generate.hpp"

#include "algorithms/families.hpp"
#include "schedule/placement.hpp"

namespace swapmeet {

Flow flow(const Spec& spec, const Shape& shape, Rank rank) {
  Flow flow = algorithm_of(spec.family).flow(spec, shape, rank).flow;
  std::erase_if(flow.rounds, [](const Round& round) { return round.send_count + round.receive_count == 0; });
  return flow;
}

Schedule generate(const Spec& spec, const Shape& shape, Rank rank) {
  return place(algorithm_of(spec.family).flow(spec, shape, rank), spec, shape);
}

}  // namespace swapmeet
