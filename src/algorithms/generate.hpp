/// From a point of the family to the schedule of one rank.
#pragma once

#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// The schedule of `rank`. Pure: the same arguments give the same schedule on every rank and machine.
/// Requires spec.family != Family::native and unsuitable(spec, shape) empty.
Schedule generate(const Spec& spec, const Shape& shape, Rank rank);

}  // namespace swapmeet
