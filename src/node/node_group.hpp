/// The ranks of a communicator that share a node with this rank, while they set up shared memory.
#pragma once

#include <string>
#include <vector>

#include "team/agreement.hpp"
#include "node/segment.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class NodeGroup {
 public:
  /// `gathers`: whether gathers within nodes are made among all ranks of `team`. `nodes`: number of the node of each of
  /// these ranks. Local.
  NodeGroup(Team& team, bool gathers, const std::vector<std::int32_t>& nodes);

  std::int32_t count() const { return static_cast<std::int32_t>(ranks_.size()); }
  std::int32_t me() const { return members_[static_cast<std::size_t>(all_.rank())]; }

  /// The number within the node of each rank of the communicator; -1 for ranks of other nodes.
  const std::vector<std::int32_t>& members() const { return members_; }

  /// Gathers one item from each rank of the node into `all`. Collective over all ranks of the communicator; with many
  /// ranks, it uses messages within the node. Returns an MPI error code.
  template <class Item>
  int allgather(const Item& mine, std::vector<Item>& all) const {
    all.resize(ranks_.size());
    return allgather_bytes(&mine, sizeof mine, all.data());
  }

  /// Variant for `bytes` bytes from each rank, the same number on all ranks. `all` has room for count() times `bytes`.
  int allgather_bytes(const void* mine, std::size_t bytes, void* all) const;

  /// Selects the items of the ranks of this node from `all`, which has one item for each rank of the communicator.
  template <class Item>
  std::vector<Item> of_node(const std::vector<Item>& all) const {
    std::vector<Item> some;
    for (const int rank : ranks_) some.push_back(all[static_cast<std::size_t>(rank)]);
    return some;
  }

  /// Makes shared memory of `bytes` bytes in /dev/shm, the same number on all ranks of the node. This rank reserves
  /// `mine` bytes from `first` on. Collective over the communicator. Returns false on all ranks of all nodes if one of them fails.
  bool share(std::size_t bytes, std::size_t first, std::size_t mine, Segment& segment, std::string& problem) const;

 private:
  /// Makes or opens the segment of the node. Returns "", or the problem on this rank.
  std::string open(std::size_t bytes, Segment& segment) const;

  Team& all_;
  const bool gathers_;
  std::vector<std::int32_t> members_;
  std::vector<Rank> ranks_;  ///< ranks of this node
};

}  // namespace swapmeet
