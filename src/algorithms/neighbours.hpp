/// Exchanges with the neighbours of a virtual topology, by a point of the family that fits.
#pragma once

#include <string>

#include "schedule/spec.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// Why exchanges with neighbours cannot go by `spec`; "" if they can. The same for all topologies.
std::string unsuitable_for_neighbours(const Spec& spec);

/// What one rank does: pure, as generate(). Requires that `spec` is suitable.
Schedule generate(const Spec& spec, const Neighbourhood& neighbourhood);

}  // namespace swapmeet
