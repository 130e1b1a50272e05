/// From a point of the family to what one rank does.
#pragma once

#include <string>

#include "schedule/flow.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// Why `spec` cannot serve a communicator of this shape; "" if it can.
std::string unsuitable(const Spec& spec, const Shape& shape);

/// What travels to and from `rank`, all that an exchange of blocks of unequal size needs. As pure as generate().
Flow flow(const Spec& spec, const Shape& shape, Rank rank);

/// The schedule of `rank`, for blocks of equal size: its flow, placed. Pure: the same arguments give the same schedule on
/// every rank and machine.
/// Requires spec.family != Family::native and unsuitable(spec, shape) empty.
Schedule generate(const Spec& spec, const Shape& shape, Rank rank);

/// Scratch blocks that are enough for the schedule of any rank, where all do alike (alike_on()): their schedules differ in
/// what they stage. O(one schedule).
std::int64_t scratch_of_alike(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
