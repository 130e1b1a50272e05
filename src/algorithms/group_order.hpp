/// An order balanced by groups: in each slot the members of a group send to different groups, about as many to each, so
/// that links between groups (of a dragonfly, islands, racks) are used alike all the time. All that it needs to know is
/// which rank is in which group.
///
/// Of G groups of up to H members, in slot b·G + a member m of group g sends to member m + b (mod H) of group
/// g + a + c·m (mod G), with c = max(1, G/H). Where a group lacks that member nobody is sent to: order=groups has G·H
/// slots, P of them in use.                                          [Proof: docs/proofs.md, "Orders balanced by groups"]
///
/// Needs:   any P, any groups.     [checked by tests/core/orders_test.py]
#pragma once

#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

class GroupOrder {
 public:
  /// Of order=groups:N and groups:nodes.
  GroupOrder(const Spec& spec, const Shape& shape);

  std::int64_t slots() const { return std::int64_t{groups_} * members_; }
  /// Groups that make more slots of so many ranks differ too much in size: most ranks would be idle in most of them.
  static std::int64_t most_slots(Rank ranks) { return 4 * std::int64_t{ranks}; }

  /// In which slot a rank sends to another. Requires slots() <= most_slots(), as below.
  std::int32_t slot(Rank from, Rank to) const;
  /// To whom a rank sends in a slot, itself perhaps; -1: to nobody.
  Rank receiver(Rank from, std::int32_t slot) const;

 private:
  std::int32_t stride() const { return groups_ > members_ ? groups_ / members_ : 1; }

  std::vector<std::int32_t> group_, member_;  ///< of each rank
  std::vector<Rank> rank_at_;                 ///< [group · members + member]; -1: nobody
  std::int32_t groups_ = 0, members_ = 0;     ///< G; H
};

}  // namespace swapmeet
