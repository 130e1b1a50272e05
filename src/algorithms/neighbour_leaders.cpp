/// Exchange with neighbours of a virtual topology by leaders: all blocks of a node for a group of ranks of another node
/// are sent in one message. topology/leader_map.hpp assigns the leaders. There are three phases, as in the exchange
/// among all ranks (algorithms/leaders.cpp):
///   gather    a rank sends one message to each neighbour on its node, with the blocks for it, and another one to each
///             leader of its node, with the blocks that this leader sends to other nodes
///   exchange  a leader sends one message to each group that it serves, with the blocks of all members of its node
///   scatter   a leader sends one message to each other member of its group, with its blocks from all other nodes
/// Messages without blocks are not sent. Both ends of a message list its blocks by source, destination and number of
/// the edge. The sender knows them from the lists of the ranks of its own node, and so does the receiver.
///
/// The position of a message is defined as in the exchange among all ranks. No rank waits forever: the first unfinished
/// message, by phase and position, is the first unfinished one of both of its ends.
///
/// Source:  kandalla2009 (leaders of a node); MPI Advance, locality_aware (messages of neighbours combined by node)
/// Cost:    between nodes one message for each group of another node that any rank of the node has blocks for; an edge
///          between nodes moves its block up to three times, an edge within a node once
///                                                                         [checked by tests/core/neighbours_test.py]
/// Needs:   any order except topology and groups.
/// Scratch: one block for each block that a leader passes on, and as many for packing.
/// Proof:   docs/proofs.md, "Exchange with neighbours"
#include "algorithms/neighbour_leaders.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "algorithms/by_leaders.hpp"

namespace swapmeet {

namespace {

/// A block in transit between two ranks, and its place on this rank.
struct OnTheWay {
  Rank source = 0, destination = 0;
  std::int32_t number = 0;  ///< number of its edge
  Location place{};

  friend bool operator<(const OnTheWay& a, const OnTheWay& b) {
    return std::tie(a.source, a.destination, a.number) < std::tie(b.source, b.destination, b.number);
  }
};
using Blocks = std::vector<OnTheWay>;

/// outgoing() returns the blocks that a rank sends, with their places in the send buffer. incoming() returns the blocks
/// that it receives, with their final places. Both are sorted.
Blocks outgoing(const Neighbourhood& all) {
  Blocks blocks;
  for (const Edge& edge : edges_out(all)) blocks.push_back({all.rank, edge.peer, edge.number, own_block(edge.block)});
  std::ranges::sort(blocks, std::less{});
  return blocks;
}
Blocks incoming(const Neighbourhood& all) {
  Blocks blocks;
  for (const Edge& edge : edges_in(all)) blocks.push_back({edge.peer, all.rank, edge.number, end_of(edge.block)});
  std::ranges::sort(blocks, std::less{});
  return blocks;
}

class NeighbourLeaders : ByLeaders {
 public:
  NeighbourLeaders(const Spec& spec, const NodeNeighbourhoods& all, Rank rank)
      : ByLeaders(spec, all.shape, rank), all_(all) {
    flow_.neighbours(all.of(rank).degrees());
  }

  SlotFlow make() && {
    gather();
    if (map_.nodes() > 1) exchange();
    if (map_.nodes() > 1 && map_.largest_group() > 1) scatter();
    return std::move(flow_).finish();
  }

 private:
  /// Blocks grouped by a common rank or node. Each group is sorted.
  using Shares = std::unordered_map<std::int32_t, Blocks>;

  bool elsewhere(Rank rank) const { return map_.node_of(rank) != node_; }

  /// Returns the leader of this node that sends the blocks for `destination`, a rank of another node.
  Rank through(Rank destination) const { return map_.leader({node_, map_.sender(node_, map_.group_of(destination))}); }

  /// Assigns the next unused slot to a block.
  OnTheWay in_slot(OnTheWay block) {
    block.place = slot(slots_++);
    return block;
  }

  /// Adds a message with `peer` that holds the blocks of `key`, if there are any. `receiver` is the rank that receives
  /// it.
  static void add(PositionedMessages& messages, Rank peer, std::int32_t position, Rank receiver, const Shares& all,
                  std::int32_t key) {
    const auto share = all.find(key);
    if (share == all.end()) return;
    RunList places;
    bool last = true;
    for (const OnTheWay& block : share->second) places.add(block.place), last &= block.destination == receiver;
    messages.add(peer, position, last, std::move(places));
  }

  void gather() {
    Shares near, far, from_near, gathered;  // near, far: by receiver; from_near, gathered: by sender
    for (const OnTheWay& block : outgoing(all_.of(rank_)))
      if (!elsewhere(block.destination)) near[block.destination].push_back(block);
      else if (const Rank leader = through(block.destination); leader != rank_) far[leader].push_back(block);
      else leaving_.push_back(block);
    for (const OnTheWay& block : incoming(all_.of(rank_))) from_near[block.source].push_back(block);
    for (const Rank member : members_)
      for (const OnTheWay& block : leads() && member != rank_ ? outgoing(all_.of(member)) : Blocks())
        if (elsewhere(block.destination) && through(block.destination) == rank_) {
          leaving_.push_back(in_slot(block));
          gathered[member].push_back(leaving_.back());
        }
    std::ranges::sort(leaving_, std::less{});
    flow_.phase(packs());
    for (const OwnBlock& own : own_blocks(all_.of(rank_))) flow_.move(own_block(own.from), end_of(own.to));
    PositionedMessages out, in;
    const auto size = static_cast<std::int32_t>(members_.size());
    for (std::int32_t i = 1; i < size; ++i) {
      const Rank to = members_[static_cast<std::size_t>((member_ + i) % size)];
      const Rank from = members_[static_cast<std::size_t>((member_ - i + size) % size)];
      add(out, to, i, to, near, to);
      add(out, to, i, to, far, to);
      add(in, from, i, rank_, from_near, from);
      add(in, from, i, rank_, gathered, from);
    }
    add_rounds(map_.largest_node() - 1, out, in);
  }

  void exchange() {
    const std::int32_t nodes = map_.nodes();
    Shares for_groups, from_nodes;  // by leader; by node
    for (const OnTheWay& block : leaving_) for_groups[map_.leader(map_.group_of(block.destination))].push_back(block);
    for (const Rank member : mine_)
      for (const OnTheWay& block : leads() ? incoming(all_.of(member)) : Blocks())
        if (elsewhere(block.source)) arriving_.push_back(member == rank_ ? block : in_slot(block));
    std::ranges::sort(arriving_, std::less{});
    for (const OnTheWay& block : arriving_) from_nodes[map_.node_of(block.source)].push_back(block);
    PositionedMessages out, in;
    for (const Group group : leads() ? map_.served(node_, group_.number) : std::vector<Group>()) {
      const Rank leader = map_.leader(group);
      add(out, leader, (group.node - node_ + nodes) % nodes, leader, for_groups, leader);
    }
    for (std::int32_t i = 1; i < nodes; ++i) {
      const std::int32_t from = (node_ - i + nodes) % nodes;
      add(in, map_.leader({from, map_.sender(from, group_)}), i, rank_, from_nodes, from);
    }
    flow_.phase(packs());
    add_rounds(nodes - 1, out, in);
  }

  void scatter() {
    Shares for_members, from_leader;  // by receiver
    for (const OnTheWay& block : arriving_) for_members[block.destination].push_back(block);
    for (const OnTheWay& block : leads() ? Blocks() : incoming(all_.of(rank_)))
      if (elsewhere(block.source)) from_leader[rank_].push_back(block);
    PositionedMessages out, in;
    for (std::int32_t i = 1; i < static_cast<std::int32_t>(mine_.size()); ++i) {
      const Rank to = mine_[static_cast<std::size_t>(i)];
      add(out, to, i, to, for_members, to);
      if (to == rank_) add(in, mine_.front(), i, rank_, from_leader, rank_);
    }
    flow_.phase(packs());
    add_rounds(map_.largest_group() - 1, out, in);
  }

  bool packs() const { return spec_.packing == Packing::memcpy; }

  const NodeNeighbourhoods& all_;
  Blocks leaving_, arriving_;  ///< blocks sent to other nodes, and received from them, by this rank
  std::int32_t slots_ = 0;
};

}  // namespace

SlotFlow leaders_for_neighbours(const Spec& spec, const NodeNeighbourhoods& all, Rank rank) {
  return NeighbourLeaders(spec, all, rank).make();
}

}  // namespace swapmeet
