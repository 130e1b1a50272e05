/// Work that is counted message by message, where there is no closed form.
#pragma once

#include "model/work.hpp"

namespace swapmeet {

/// Of an algorithm on a grid where some places are proxies; without the rotations of its blocks.
void tally_proxies(const Spec& spec, const Shape& shape, const std::vector<std::int32_t>& sizes, const Nodes& nodes,
                   Work& work);

/// Of schedules. std::length_error: there are too many messages.
void tally_schedules(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work);

}  // namespace swapmeet
