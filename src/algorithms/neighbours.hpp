/// Schedules of exchanges with the neighbours of a virtual topology.
#pragma once

#include <string>

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// Returns why exchanges with neighbours cannot use `spec`, or "" if they can. The result is the same for all
/// topologies.
std::string unsuitable_for_neighbours(const Spec& spec);

/// Returns the schedule of one rank. Pure, as generate(). `spec` must be suitable and must not forward blocks.
Schedule generate(const Spec& spec, const Neighbourhood& neighbourhood);

/// Return the schedule of one rank for blocks of equal size, and its flow for blocks of any size. `spec` may be any
/// suitable spec. `all` describes the neighbourhoods on the node of `rank`.
Schedule generate(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);
Flow flow(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);

/// Returns the slot flow from which both are made. It has the same number of phases on every rank.
SlotFlow slot_flow(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);

}  // namespace swapmeet
