/// Proofs of neighbourhood collectives.
#pragma once

#include <span>

#include "topology/neighbourhood.hpp"
#include "proofs/verify.hpp"

namespace swapmeet {

/// Verifies the schedules of a neighbourhood collective. Each block is received once, at the place given by the lists
/// of neighbours (topology/neighbourhood.hpp), for any number of neighbours of each rank. `schedules[r]` and
/// `neighbourhoods[r]` are those of rank r.
Verdict verify_neighbours(std::span<const Schedule> schedules, std::span<const Neighbourhood> neighbourhoods);

/// Verifies the flows of a neighbourhood collective with unequal blocks, like verify_flows().
Verdict verify_neighbours(std::span<const Flow> flows, std::span<const Neighbourhood> neighbourhoods);

}  // namespace swapmeet
