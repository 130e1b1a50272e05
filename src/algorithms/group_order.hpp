/// An order balanced by groups: in each slot the members of a group send to different groups, about as many to each, so
/// that links between groups (of a dragonfly, islands, racks) are used alike all the time. All that it needs to know is
/// which member is in which group. Members are ranks, or where nodes exchange (leaders, two layers) the nodes, each in the
/// group of its first rank.
///
/// Of G groups of up to H members, in slot b·G + a member m of group g sends to member m + b (mod H) of group
/// g + a + c·m (mod G), with c = max(1, G/H). Where a group lacks that member nobody is sent to: order=groups has G·H
/// slots, in each rank as many of them in use as there are members.
///                                                                   [Proof: docs/proofs.md, "Orders balanced by groups"]
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
  /// Of order=groups:N and groups:nodes.
  GroupOrder(const Spec& spec, const Shape& shape);

  std::int64_t slots() const { return std::int64_t{groups_} * largest_; }
  /// Whether groups differ so much in size that most members would be idle in most slots. What follows requires that they do
  /// not.
  bool too_unequal() const { return slots() > 4 * static_cast<std::int64_t>(group_.size()); }

  /// In which slot a member sends to another.
  std::int32_t slot(std::int32_t from, std::int32_t to) const;
  /// To whom a member sends in a slot, itself perhaps; -1: to nobody.
  std::int32_t receiver(std::int32_t from, std::int32_t slot) const;
  /// All slots of one member.
  SlotRows rows_of(std::int32_t member) const;

 private:
  std::int32_t stride() const { return groups_ > largest_ ? groups_ / largest_ : 1; }

  std::vector<std::int32_t> group_, place_;  ///< of each member: its group, and where it is in that
  std::vector<std::int32_t> member_at_;      ///< [group · largest + place]; -1: nobody
  std::int32_t groups_ = 0, largest_ = 0;    ///< G; H
};

/// Why the groups of an order by groups will not do; "": they will, or there are none. Of two layers requires a suitable grid.
std::string too_unequal_groups(const Spec& spec, const Shape& shape);

/// The slots in which `spec` has a member exchange: those of shape.order, or by groups; nothing: it has no such order.
std::shared_ptr<const SlotRows> slots_of(const Spec& spec, const Shape& shape, std::int32_t member);

}  // namespace swapmeet
