#include "algorithms/generate.hpp"

#include "algorithms/families.hpp"
#include "schedule/placement.hpp"

namespace swapmeet {

Flow flow(const Spec& spec, const Shape& shape, Rank rank) {
  return flow_of(algorithm_of(spec.family).flow(spec, shape, rank));
}

Schedule generate(const Spec& spec, const Shape& shape, Rank rank) {
  return place(algorithm_of(spec.family).flow(spec, shape, rank), spec, shape);
}

}  // namespace swapmeet
