#include "algorithms/group_order.hpp"

#include <algorithm>
#include <unordered_map>

namespace swapmeet {

GroupOrder::GroupOrder(const Spec& spec, const Shape& shape) {
  const auto group_at = [&](Rank rank) {
    if (spec.group_ranks > 0) return rank / spec.group_ranks;
    return shape.hierarchy.empty() ? 0 : shape.hierarchy.front()[static_cast<std::size_t>(rank)];
  };
  std::unordered_map<std::int32_t, std::int32_t> numbers;  // of groups, in the order of their first ranks
  std::vector<std::int32_t> sizes;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const std::int32_t group =
        numbers.try_emplace(group_at(rank), static_cast<std::int32_t>(numbers.size())).first->second;
    if (static_cast<std::size_t>(group) == sizes.size()) sizes.push_back(0);
    group_.push_back(group);
    member_.push_back(sizes[static_cast<std::size_t>(group)]++);
  }
  groups_ = static_cast<std::int32_t>(sizes.size());
  members_ = std::ranges::max(sizes);
  if (slots() > most_slots(shape.ranks)) return;
  rank_at_.assign(static_cast<std::size_t>(slots()), -1);
  for (std::size_t rank = 0; rank < group_.size(); ++rank)
    rank_at_[static_cast<std::size_t>(group_[rank] * members_ + member_[rank])] = static_cast<Rank>(rank);
}

std::int32_t GroupOrder::slot(Rank from, Rank to) const {
  const auto s = static_cast<std::size_t>(from), d = static_cast<std::size_t>(to);
  const std::int64_t turned = group_[d] - group_[s] - std::int64_t{stride()} * member_[s] % groups_;
  const std::int32_t ahead = member_[d] - member_[s];
  return (ahead < 0 ? ahead + members_ : ahead) * groups_ + static_cast<std::int32_t>((turned + 2 * groups_) % groups_);
}

Rank GroupOrder::receiver(Rank from, std::int32_t slot) const {
  const auto s = static_cast<std::size_t>(from);
  const std::int64_t group = (group_[s] + slot % groups_ + std::int64_t{stride()} * member_[s]) % groups_;
  const std::int64_t member = (member_[s] + slot / groups_) % members_;
  return rank_at_[static_cast<std::size_t>(group * members_ + member)];
}

}  // namespace swapmeet
