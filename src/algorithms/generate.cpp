#include "algorithms/generate.hpp"

#include "algorithms/bruck.hpp"
#include "algorithms/direct.hpp"

namespace swapmeet {

Schedule generate(const Spec& spec, const Shape& shape, Rank rank) {
  return spec.family == Family::bruck ? bruck(spec, shape, rank) : direct(spec, shape, rank);
}

}  // namespace swapmeet
