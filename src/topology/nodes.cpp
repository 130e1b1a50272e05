#include "topology/nodes.hpp"

#include <algorithm>

namespace swapmeet {

namespace {

/// Renames groups if necessary, so that all names are at least 0 and less than the number of ranks.
std::vector<std::int32_t> small_names(std::span<const std::int32_t> names) {
  std::vector<std::int32_t> small(names.begin(), names.end());
  const auto [least, most] = std::ranges::minmax(small);
  if (least >= 0 && most < static_cast<std::int32_t>(small.size())) return small;
  std::vector<std::int32_t> sorted = small;
  std::ranges::sort(sorted);
  for (std::int32_t& name : small)
    name = static_cast<std::int32_t>(std::ranges::lower_bound(sorted, name) - sorted.begin());
  return small;
}

}  // namespace

Nodes::Nodes(const Shape& shape) : sizes_{shape.ranks}, largest_(shape.ranks), smallest_(shape.ranks) {
  if (!shape.hierarchy.empty()) *this = Nodes(shape.hierarchy.front());
}

Nodes::Nodes(std::span<const std::int32_t> names) : node_of_(small_names(names)) {
  std::vector<std::int32_t> number(names.size(), -1);
  std::int32_t before = -1, stretches = 0;  // node of the previous rank; stretches of consecutive ranks on one node
  for (std::int32_t& node : node_of_) {
    std::int32_t& known = number[static_cast<std::size_t>(node)];
    if (known < 0) known = count(), sizes_.push_back(0);
    node = known;
    ++sizes_[static_cast<std::size_t>(node)];
    stretches += node != before;
    before = node;
  }
  largest_ = std::ranges::max(sizes_);
  smallest_ = std::ranges::min(sizes_);
  consecutive_ = stretches == count();
}

}  // namespace swapmeet
