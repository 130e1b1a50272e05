/// Counting exchanges by leaders: see model/counts.hpp.
#pragma once

#include "model/counts.hpp"

namespace swapmeet {

Counts count_leaders(const Spec& spec, const Shape& shape);

std::vector<RoundCounts> leader_rounds(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
