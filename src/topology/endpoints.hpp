/// The endpoints of an order of the topology: between what blocks travel.
#pragma once

#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

/// Ranks, or what blocks travel between: the nodes (or groups) of leaders and of two layers. Each is known by its
/// number, in the order of first ranks, and stood for by its first rank.
struct Endpoints {
  std::vector<Rank> first_ranks;        ///< of each
  std::vector<std::int32_t> member_of;  ///< for each rank, which of them it is in
};

/// Requires unsuitable(spec, shape) to be empty.
Endpoints endpoints(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
