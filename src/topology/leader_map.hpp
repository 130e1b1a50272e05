/// Which ranks of a node send and receive for it, and for whom.
///
/// The members of a node, in rank order, are cut into as many groups as it has leaders, as equal as can be; a group's
/// first member is its leader and receives for it. What a node has for group g of another node leaves through one of
/// its own leaders: all groups of all other nodes, in the order of nodes from its own on, are dealt out to its leaders
/// in turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// Some members of a node: those that one leader receives for.
struct Group {
  std::int32_t node = 0, number = 0;
  bool operator==(const Group&) const = default;
};

class LeaderMap {
 public:
  /// `leaders`: of each node that has so many ranks; 0: all ranks.
  LeaderMap(const Shape& shape, std::int32_t leaders);

  std::int32_t nodes() const { return static_cast<std::int32_t>(leaders_.size()); }
  std::int32_t node_of(Rank rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  std::int32_t leaders(std::int32_t node) const { return leaders_[static_cast<std::size_t>(node)]; }

  /// All ranks, node by node in the order of their first ranks.
  const std::vector<Rank>& ranks() const { return ranks_; }
  std::span<const Rank> members(std::int32_t node) const {
    const auto at = static_cast<std::size_t>(node);
    return std::span(ranks_).subspan(first_[at], first_[at + 1] - first_[at]);
  }
  /// How many ranks the nodes before it have.
  std::int32_t first(std::int32_t node) const {
    return static_cast<std::int32_t>(first_[static_cast<std::size_t>(node)]);
  }
  std::int32_t size(std::int32_t node) const { return static_cast<std::int32_t>(members(node).size()); }

  /// The first member of group `number`; that of one more is the end.
  std::int32_t begin(std::int32_t node, std::int32_t number) const {
    return static_cast<std::int32_t>(std::int64_t{number} * size(node) / leaders(node));
  }
  std::span<const Rank> members(Group group) const {
    const std::int32_t first = begin(group.node, group.number), end = begin(group.node, group.number + 1);
    return members(group.node).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
  }
  Rank leader(Group group) const { return members(group).front(); }
  /// The number of the group that a member of `node` is in.
  std::int32_t group_of(std::int32_t node, std::int32_t member) const {
    return static_cast<std::int32_t>(((std::int64_t{member} + 1) * leaders(node) - 1) / size(node));
  }
  /// The position of a rank among the members of its node.
  std::int32_t member_of(Rank rank) const {
    const auto members = this->members(node_of(rank));
    return static_cast<std::int32_t>(std::ranges::lower_bound(members, rank) - members.begin());
  }
  Group group_of(Rank rank) const { return {node_of(rank), group_of(node_of(rank), member_of(rank))}; }

  /// Which leader of `node` sends to `group` of another node.
  std::int32_t sender(std::int32_t node, Group group) const;

  /// The groups that leader `number` of `node` sends to, in the order of nodes from its own on; the first `most` of
  /// them.
  std::vector<Group> served(std::int32_t node, std::int32_t number, std::size_t most = SIZE_MAX) const;
  /// How many these are.
  std::int64_t served_count(std::int32_t node, std::int32_t number) const {
    return (leaders_before_.back() - leaders(node) - number + leaders(node) - 1) / leaders(node);
  }

  std::int32_t largest_node() const;
  std::int32_t largest_group() const;
  std::int32_t smallest_group() const;
  bool equal_nodes() const;

 private:
  std::vector<Rank> ranks_;
  std::vector<std::size_t> first_;  ///< in ranks_, of each node, and the end
  std::vector<std::int32_t> node_of_, leaders_;
  std::vector<std::int64_t> leaders_before_;  ///< of all nodes before each node, and of all
};

}  // namespace swapmeet
