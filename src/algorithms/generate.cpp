#include "algorithms/generate.hpp"

#include "algorithms/bruck.hpp"
#include "algorithms/direct.hpp"
#include "algorithms/leaders.hpp"

namespace swapmeet {

Schedule generate(const Spec& spec, const Shape& shape, Rank rank) {
  switch (spec.family) {
    case Family::bruck: return bruck(spec, shape, rank);
    case Family::leaders: return leaders(spec, shape, rank);
    default: return direct(spec, shape, rank);
  }
}

}  // namespace swapmeet
