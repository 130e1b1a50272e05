#include "algorithms/generate.hpp"

#include "algorithms/direct.hpp"

namespace swapmeet {

Schedule generate(const Spec& spec, Shape shape, Rank rank) { return direct(spec, shape, rank); }

}  // namespace swapmeet
