/// The ranks of a communicator that share a node with this one, while they set up something together.
#pragma once

#include <string>
#include <vector>

#include "team/agreement.hpp"
#include "node/segment.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class NodeGroup {
 public:
  /// `nodes`: the node of each rank. Local.
  NodeGroup(const Peers& peers, const std::vector<std::int32_t>& nodes);

  std::int32_t count() const { return static_cast<std::int32_t>(ranks_.size()); }
  std::int32_t me() const { return members_[static_cast<std::size_t>(rank_)]; }

  /// The number within the node of each rank of the communicator; -1: it is on another.
  const std::vector<std::int32_t>& members() const { return members_; }

  /// What each rank of the node says, in `all`. Collective over all ranks: where they are many, it goes by messages within the node.
  /// Returns as MPI does.
  template <class Item>
  int gather(const Item& mine, std::vector<Item>& all) const {
    all.resize(ranks_.size());
    return gather_bytes(&mine, sizeof mine, all.data());
  }

  /// The same of `bytes` bytes of each rank, as many on all ranks; `all` has room for count() times so many.
  int gather_bytes(const void* mine, std::size_t bytes, void* all) const;

  /// Of what each rank of the communicator has said, that of the node's.
  template <class Item>
  std::vector<Item> of_node(const std::vector<Item>& all) const {
    std::vector<Item> some;
    for (const int rank : ranks_) some.push_back(all[static_cast<std::size_t>(rank)]);
    return some;
  }

  /// Makes shared memory of `bytes` bytes (the same on all ranks of the node), of which this rank reserves `mine` from
  /// `first` on. Collective over the communicator. False, on all ranks of all nodes: one could not.
  bool share(std::size_t bytes, std::size_t first, std::size_t mine, Segment& segment, std::string& problem) const;

 private:
  /// Makes or opens the segment of the node. "", or what went wrong on this rank.
  std::string open(std::size_t bytes, Segment::Naming naming, Segment& segment) const;

  Peers all_;
  int rank_;
  std::vector<std::int32_t> members_;
  std::vector<Rank> ranks_;  ///< of the node
};

}  // namespace swapmeet
