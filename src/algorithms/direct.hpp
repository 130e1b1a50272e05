/// Direct exchange: every block in one message from its source to its destination.
#pragma once

#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

Schedule direct(const Spec& spec, const Shape& shape, Rank rank);

}  // namespace swapmeet
