/// Counts work message by message, for exchanges without a closed form.
#pragma once

#include "model/work.hpp"

namespace swapmeet {

/// Counts the work of an exchange on a grid with proxies, without the initial and final copies (rotations).
void tally_proxies(const Spec& spec, const Shape& shape, const std::vector<std::int32_t>& sizes, const Nodes& nodes,
                   Work& work);

/// Counts the work of an exchange in its schedules. Throws std::length_error if there are too many messages.
void tally_schedules(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work);

}  // namespace swapmeet
