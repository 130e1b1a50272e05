/// Exchanges with the neighbours of a virtual topology, by a point of the family that fits.
#pragma once

#include <string>

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// Why exchanges with neighbours cannot go by `spec`; "" if they can. The same for all topologies.
std::string unsuitable_for_neighbours(const Spec& spec);

/// What one rank does: pure, as generate(). Requires that `spec` is suitable, and does not forward.
Schedule generate(const Spec& spec, const Neighbourhood& neighbourhood);

/// The same for blocks of equal size, of any suitable spec: `all` is of the node of `rank`; and what travels, whatever the
/// sizes.
Schedule generate(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);
Flow flow(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);

/// What both are made of. It has as many phases on every rank.
SlotFlow slot_flow(const Spec& spec, const NodeNeighbourhoods& all, Rank rank);

}  // namespace swapmeet
