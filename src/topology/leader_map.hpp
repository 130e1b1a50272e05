/// LeaderMap assigns leaders: the ranks of a node that send and receive for other ranks of the node.
///
/// The members of a node, in rank order, are divided into as many groups as the node has leaders, as equal as possible.
/// The first member of a group is its leader and receives for the group. Blocks for a group of another node are sent by
/// one of the own node's leaders. For this, the groups of all other nodes, in the order of nodes starting after the own
/// one, are assigned to the node's leaders in turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/nodes.hpp"

namespace swapmeet {

/// Members of a node with a common leader, which receives for them.
struct Group {
  std::int32_t node = 0, number = 0;
  bool operator==(const Group&) const = default;
};

class LeaderMap {
 public:
  /// `leaders` is the number of leaders of each node, at most its number of ranks; 0: all ranks are leaders.
  LeaderMap(const Shape& shape, std::int32_t leaders);

  std::int32_t nodes() const { return nodes_.count(); }
  std::int32_t node_of(Rank rank) const { return nodes_.of(rank); }
  std::int32_t leaders(std::int32_t node) const { return leaders_[static_cast<std::size_t>(node)]; }

  /// Returns all ranks, node by node, nodes in the order of their first ranks.
  const std::vector<Rank>& ranks() const { return ranks_; }
  std::span<const Rank> members(std::int32_t node) const {
    const auto at = static_cast<std::size_t>(node);
    return std::span(ranks_).subspan(first_[at], first_[at + 1] - first_[at]);
  }
  /// Returns the number of ranks on all nodes before `node`.
  std::int32_t first(std::int32_t node) const {
    return static_cast<std::int32_t>(first_[static_cast<std::size_t>(node)]);
  }
  std::int32_t size(std::int32_t node) const { return nodes_.size(node); }

  /// Returns the index of the first member of group `number`. For the number of groups it returns the number of
  /// members.
  std::int32_t begin(std::int32_t node, std::int32_t number) const {
    return static_cast<std::int32_t>(std::int64_t{number} * size(node) / leaders(node));
  }
  std::span<const Rank> members(Group group) const {
    const std::int32_t first = begin(group.node, group.number), end = begin(group.node, group.number + 1);
    return members(group.node).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
  }
  Rank leader(Group group) const { return members(group).front(); }
  /// Returns the number of the group of member number `member` of `node`.
  std::int32_t group_of(std::int32_t node, std::int32_t member) const {
    return static_cast<std::int32_t>(((std::int64_t{member} + 1) * leaders(node) - 1) / size(node));
  }
  /// Returns the index of a rank among the members of its node.
  std::int32_t member_of(Rank rank) const {
    const auto members = this->members(node_of(rank));
    return static_cast<std::int32_t>(std::ranges::lower_bound(members, rank) - members.begin());
  }
  Group group_of(Rank rank) const { return {node_of(rank), group_of(node_of(rank), member_of(rank))}; }

  /// Returns the number of the leader of `node` that sends to `group` of another node.
  std::int32_t sender(std::int32_t node, Group group) const;

  /// Returns the groups to which leader `number` of `node` sends, in the order of nodes starting after its own; at most
  /// the first `most` of them.
  std::vector<Group> served(std::int32_t node, std::int32_t number, std::size_t most = SIZE_MAX) const;
  /// Returns the number of these groups.
  std::int64_t served_count(std::int32_t node, std::int32_t number) const {
    return (leaders_before_.back() - leaders(node) - number + leaders(node) - 1) / leaders(node);
  }

  std::int32_t largest_node() const { return nodes_.largest(); }
  std::int32_t largest_group() const;
  std::int32_t smallest_group() const;
  bool equal_nodes() const { return nodes_.largest() == nodes_.smallest(); }

 private:
  Nodes nodes_;
  std::vector<Rank> ranks_;
  std::vector<std::size_t> first_;     ///< for each node, index of its first rank in ranks_; then the end
  std::vector<std::int32_t> leaders_;  ///< for each node
  /// for each node, number of leaders on all nodes before it; then that of all nodes
  std::vector<std::int64_t> leaders_before_;
};

}  // namespace swapmeet
