#include "topology/leader_map.hpp"

#include <algorithm>

namespace swapmeet {

LeaderMap::LeaderMap(const Shape& shape, std::int32_t leaders)
    : nodes_(shape), ranks_(static_cast<std::size_t>(shape.ranks)), first_{0}, leaders_before_{0} {
  for (std::int32_t node = 0; node < nodes(); ++node) {
    first_.push_back(first_.back() + static_cast<std::size_t>(size(node)));
    leaders_.push_back(leaders == 0 ? size(node) : std::min(leaders, size(node)));
    leaders_before_.push_back(leaders_before_.back() + leaders_.back());
  }
  std::vector<std::size_t> next = first_;
  for (Rank rank = 0; rank < shape.ranks; ++rank) ranks_[next[static_cast<std::size_t>(node_of(rank))]++] = rank;
}

std::int32_t LeaderMap::sender(std::int32_t node, Group group) const {
  const auto own = static_cast<std::size_t>(node), other = static_cast<std::size_t>(group.node);
  const std::int64_t turn =
      leaders_before_[other] - leaders_before_[own + 1] + (other < own ? leaders_before_.back() : 0);
  return static_cast<std::int32_t>((turn + group.number) % leaders(node));
}

std::vector<Group> LeaderMap::served(std::int32_t node, std::int32_t number, std::size_t most) const {
  std::vector<Group> groups;
  const std::int32_t step = leaders(node);
  std::int32_t next = number;  // the next group of this leader, counted from the first group of `other`
  for (std::int32_t i = 1, other = node + 1; i < nodes() && groups.size() < most; ++i, ++other) {
    if (other >= nodes()) other = 0;
    for (; next < leaders(other) && groups.size() < most; next += step) groups.push_back({other, next});
    next -= leaders(other);
  }
  return groups;
}

std::int32_t LeaderMap::largest_group() const {
  std::int32_t most = 0;
  for (std::int32_t node = 0; node < nodes(); ++node) most = std::max(most, (size(node) - 1) / leaders(node) + 1);
  return most;
}

std::int32_t LeaderMap::smallest_group() const {
  std::int32_t least = size(0);
  for (std::int32_t node = 0; node < nodes(); ++node) least = std::min(least, size(node) / leaders(node));
  return least;
}

}  // namespace swapmeet
