/// Exchange by leaders: some ranks of each node gather the blocks of all its ranks for other nodes, send them to the
/// leaders there, and scatter what they receive.
#pragma once

#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

Schedule leaders(const Spec& spec, const Shape& shape, Rank rank);

}  // namespace swapmeet
