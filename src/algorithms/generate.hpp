/// Generates the flow and the schedule of one rank from a spec.
#pragma once

#include <string>

#include "schedule/flow.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// Returns why `spec` cannot serve a communicator of this shape, or "" if it can.
std::string unsuitable(const Spec& spec, const Shape& shape);

/// Returns the flow of `rank`. An exchange of blocks of unequal size needs nothing else. Requirements and purity are
/// those of generate().
Flow flow(const Spec& spec, const Shape& shape, Rank rank);

/// Returns the schedule of `rank` for blocks of equal size, made from its flow by place(). Pure: the same arguments
/// give the same schedule on every rank and machine.
/// Requires that spec.family is not Family::native and that unsuitable(spec, shape) is empty.
Schedule generate(const Spec& spec, const Shape& shape, Rank rank);

}  // namespace swapmeet
