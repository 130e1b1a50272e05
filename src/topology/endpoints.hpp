/// Endpoints of an order with slots: the ranks or nodes between which blocks are sent.
#pragma once

#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

/// Endpoints are ranks; for leaders and two layers they are nodes (or groups). Endpoints are numbered in the order of
/// their first ranks, and each is represented by its first rank.
struct Endpoints {
  std::vector<Rank> first_ranks;        ///< for each endpoint
  std::vector<std::int32_t> member_of;  ///< for each rank: the endpoint that contains it
};

/// Returns the endpoints. unsuitable(spec, shape) must be empty.
Endpoints endpoints(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
