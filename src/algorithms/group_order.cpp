#include "algorithms/group_order.hpp"

#include "topology/endpoints.hpp"
#include "topology/nodes.hpp"

namespace swapmeet {

GroupOrder::GroupOrder(const Spec& spec, const Shape& shape) {
  const auto group_at = [&](Rank rank) {
    if (spec.group_ranks > 0) return rank / spec.group_ranks;
    return shape.hierarchy.empty() ? 0 : shape.hierarchy.front()[static_cast<std::size_t>(rank)];
  };
  for (const Rank first : endpoints(spec, shape).first_ranks) group_.push_back(group_at(first));
  const Nodes groups(group_);
  std::vector<std::int32_t> members(static_cast<std::size_t>(groups.count()));  // found so far
  for (std::size_t member = 0; member < group_.size(); ++member) {
    group_[member] = groups.of(static_cast<Rank>(member));
    place_.push_back(members[static_cast<std::size_t>(group_[member])]++);
  }
  groups_ = groups.count();
  largest_ = groups.largest();
}

std::int32_t GroupOrder::slot(std::int32_t from, std::int32_t to) const {
  const std::int64_t turned = group(to) - group(from) - std::int64_t{stride()} * place(from) % groups_;
  const std::int32_t ahead = place(to) - place(from);
  return (ahead < 0 ? ahead + largest_ : ahead) * groups_ + static_cast<std::int32_t>((turned + 2 * groups_) % groups_);
}

SlotRows GroupOrder::rows_of(std::int32_t member) const {
  const auto members = static_cast<std::int32_t>(group_.size());
  SlotRows rows{members, static_cast<std::int32_t>(slots()), member, {}, {}};
  for (std::int32_t other = 0; other < members; ++other) {
    rows.sends.push_back(other == member ? -1 : slot(member, other));
    rows.receives.push_back(other == member ? -1 : slot(other, member));
  }
  return rows;
}

std::string too_unequal_groups(const Spec& spec, const Shape& shape) {
  if (spec.order != Order::groups || !GroupOrder(spec, shape).too_unequal()) return "";
  return "the groups of its order are too unequal";
}

std::shared_ptr<const SlotRows> slots_of(const Spec& spec, const Shape& shape, std::int32_t member) {
  if (spec.order == Order::topology) return shape.order;
  if (spec.order != Order::groups) return nullptr;
  return std::make_shared<const SlotRows>(GroupOrder(spec, shape).rows_of(member));
}

}  // namespace swapmeet
