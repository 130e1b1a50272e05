/// Exchange with neighbours of a virtual topology by leaders of nodes. One of the families used by
/// algorithms/neighbours.hpp.
#pragma once

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// Returns the flow of `rank`. `all` describes the neighbourhoods on its node.
SlotFlow leaders_for_neighbours(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);

}  // namespace swapmeet
