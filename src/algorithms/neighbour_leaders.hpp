/// Exchange with neighbours by leaders of nodes: one of the families behind algorithms/neighbours.hpp.
#pragma once

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// What travels to and from `rank`, of whose node `all` is.
SlotFlow leaders_for_neighbours(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);

}  // namespace swapmeet
