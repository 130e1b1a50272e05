#include "topology/endpoints.hpp"

#include <numeric>

#include "topology/arrangement.hpp"
#include "topology/nodes.hpp"

namespace swapmeet {

Endpoints endpoints(const Spec& spec, const Shape& shape) {
  Endpoints all{{}, std::vector<std::int32_t>(static_cast<std::size_t>(shape.ranks))};
  std::vector<std::int32_t>& member_of = all.member_of;
  if (spec.family == Family::leaders) {
    const Nodes nodes(shape);
    for (Rank rank = 0; rank < shape.ranks; ++rank) member_of[static_cast<std::size_t>(rank)] = nodes.of(rank);
  } else if (spec.family == Family::bruck) {
    const Arrangement grid = arrange(spec.dimensions, shape);
    const std::int32_t places = grid.places() / grid.sizes.back();  // places of a node
    for (std::size_t rank = 0; rank < member_of.size(); ++rank) member_of[rank] = grid.place_of[rank] / places;
  } else {
    std::iota(member_of.begin(), member_of.end(), 0);
  }
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    if (member_of[static_cast<std::size_t>(rank)] == static_cast<std::int32_t>(all.first_ranks.size()))
      all.first_ranks.push_back(rank);
  return all;
}

}  // namespace swapmeet
