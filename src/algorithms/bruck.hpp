/// Store-and-forward exchange on a grid of ranks: every block travels digit by digit.
#pragma once

#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

Schedule bruck(const Spec& spec, const Shape& shape, Rank rank);

}  // namespace swapmeet
