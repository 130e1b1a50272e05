/// GroupOrder is an order balanced by groups. In each slot the members of a group send to different groups, about
/// equally many to each. So links between groups (of a dragonfly, islands, racks) have the same load all the time. The
/// order depends only on the group of each member. Members are ranks; in exchanges between nodes (leaders, two layers)
/// they are the nodes, each in the group of its first rank.
///
/// There are G groups of up to H members. In slot b·G + a, member m of group g sends to member m + b (mod H) of group g
/// + a + c·m (mod G), with c = max(1, G/H). If the group lacks that member, the sender is idle. So order=groups has G·H
/// slots, and each rank uses as many of them as there are members.
///                                                      [Proof: docs/proofs.md, "Orders balanced by groups"]
///
/// Needs:   any P, any groups.     [checked by tests/core/orders_test.py]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

class GroupOrder {
 public:
  /// Makes the order of order=groups:N or groups:nodes.
  GroupOrder(const Spec& spec, const Shape& shape);

  std::int32_t groups() const { return groups_; }                                      ///< G
  std::int32_t largest() const { return largest_; }                                    ///< H
  std::int32_t stride() const { return groups_ > largest_ ? groups_ / largest_ : 1; }  ///< c
  /// Returns the group of a member, and its index in the group.
  std::int32_t group(std::int32_t member) const { return group_[static_cast<std::size_t>(member)]; }
  std::int32_t place(std::int32_t member) const { return place_[static_cast<std::size_t>(member)]; }

  std::int64_t slots() const { return std::int64_t{groups_} * largest_; }
  /// Whether group sizes differ so much that most members would be idle in most slots. The functions below require that
  /// they do not.
  bool too_unequal() const { return slots() > 4 * static_cast<std::int64_t>(group_.size()); }

  /// Returns the slot in which a member sends to another.
  std::int32_t slot(std::int32_t from, std::int32_t to) const;
  /// Returns all slots of one member.
  SlotRows rows_of(std::int32_t member) const;

 private:
  std::vector<std::int32_t> group_, place_;
  std::int32_t groups_ = 0, largest_ = 0;
};

/// Returns why the groups of an order by groups are unusable, or "" if they are usable or the order is another one. For
/// two layers the grid must be suitable.
std::string too_unequal_groups(const Spec& spec, const Shape& shape);

/// Returns the slots in which `spec` lets a member exchange: shape.order, or those of the order by groups. Returns
/// nullptr if the order has no slots.
std::shared_ptr<const SlotRows> slots_of(const Spec& spec, const Shape& shape, std::int32_t member);

}  // namespace swapmeet
