/// Nodes says how ranks are distributed over nodes, or over other groups. Nodes are numbered in the order of their first
/// ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

class Nodes {
 public:
  /// The nodes of a shape: its innermost groups, or a single node if it has none.
  explicit Nodes(const Shape& shape);
  /// `names`: for each rank any number that its group has, and no other group.
  explicit Nodes(std::span<const std::int32_t> names);

  std::int32_t count() const { return static_cast<std::int32_t>(sizes_.size()); }
  std::int32_t size(std::int32_t node) const { return sizes_[static_cast<std::size_t>(node)]; }
  /// Returns the node of a rank.
  std::int32_t of(Rank rank) const { return node_of_.empty() ? 0 : node_of_[static_cast<std::size_t>(rank)]; }
  std::int32_t largest() const { return largest_; }
  std::int32_t smallest() const { return smallest_; }
  /// Whether the ranks of each node are consecutive.
  bool consecutive() const { return consecutive_; }
  /// Whether the ranks of each node are consecutive, and all nodes have the same number of ranks.
  bool regular() const { return consecutive_ && largest_ == smallest_; }

 private:
  std::vector<std::int32_t> node_of_;  ///< for each rank; empty: there is one node
  std::vector<std::int32_t> sizes_;
  std::int32_t largest_ = 0, smallest_ = 0;
  bool consecutive_ = true;
};

}  // namespace swapmeet
