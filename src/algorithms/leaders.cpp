/// Exchange by leaders: few messages between nodes, each for many pairs of ranks. topology/leader_map.hpp assigns the
/// leaders. There are three phases. Each has one round, or several if the window is smaller.
///   gather    a rank sends one message with one block to each node peer, and one message to each leader of its node,
///             with the blocks that this leader sends to other nodes
///   exchange  a leader sends one message to each group that it serves, with the blocks of all members of its node
///   scatter   a leader sends one message to each other member of its group, with its blocks from all other nodes
/// The slots of a leader hold arriving blocks as [source][destination], then departing blocks as
/// [group served][source][destination]. A group of one rank receives blocks at their final places. A node of one rank
/// sends blocks from the send buffer.
///
/// The position of a message (algorithms/phase.hpp) is the distance of its receiver among the members (gather) or nodes
/// (exchange), or its receiver's index in the group (scatter). Between nodes, with order=topology and order=groups, it
/// is the slot of the two nodes.
///                                                                       [Proof: docs/proofs.md, "Leaders of nodes"]
///
/// Source:  fft, section 3; kandalla2009 (several leaders of a node)
/// Cost:    of a leader on N nodes of Q ranks, with k leaders and so groups of G = Q/k ranks:
///          K = (Q-1) + (k-1) + (N-1) + (G-1) and D = (Q-1) + (N-1)·((k-1)·G + Q·G + (G-1)·Q); any nodes:
///          model/counts.hpp                                      [checked by tests/core/leaders_test.py]
/// Needs:   any nodes.
/// Scratch: (N-1)·Q·G blocks for arriving blocks (G > 1) and as many for departing ones (Q > 1). If messages within a
///          node must be contiguous (intra=mpi, pack=memcpy), also the larger of these two:
///          (N-1)·(k-1)·G + (N-1)·(Q-1)·G together with the departing blocks, and (N-1)·(G-1)·Q without them.
///                                                                [checked by tests/core/leaders_test.py]

#include <algorithm>
#include <utility>

#include "algorithms/by_leaders.hpp"
#include "algorithms/families.hpp"
#include "algorithms/group_order.hpp"

namespace swapmeet {

namespace {

std::int32_t count_of(const auto& list) { return static_cast<std::int32_t>(list.size()); }

class Leaders : ByLeaders {
 public:
  Leaders(const Spec& spec, const Shape& shape, Rank rank)
      : ByLeaders(spec, shape, rank), shape_(shape), elsewhere_(shape.ranks - count_of(members_)) {
    if (leads()) served_ = map_.served(node_, group_.number);
    if (leads() && mine_.size() > 1) leaving_ = count_of(mine_) * elsewhere_;
  }

  SlotFlow make() && {
    gather();
    if (map_.nodes() > 1) exchange();
    if (map_.nodes() > 1 && map_.largest_group() > 1) scatter();
    return std::move(flow_).finish();
  }

 private:
  bool packs_within() const { return spec_.packing == Packing::memcpy && spec_.intra == Transport::mpi; }

  /// Calls use(group, first slot of its blocks, number of its ranks) for each group that this leader serves.
  void for_each_served(auto use) const {
    for (std::int32_t first = leaving_; const Group group : served_) {
      const std::int32_t size = count_of(map_.members(group));
      use(group, first, size);
      first += count_of(members_) * size;
    }
  }

  static RunList slots(std::int32_t first, std::int32_t count, std::int32_t stride = 1) {
    RunList all;
    all.add(Run{Buffer::scratch, first, count, stride});
    return all;
  }

  /// Returns the slots of the blocks that member number `source` of this node sends through this leader.
  RunList gathered(std::int32_t source) const {
    RunList all;
    for_each_served([&](Group, std::int32_t first, std::int32_t size) {
      all.add(Run{Buffer::scratch, first + source * size, size, 1});
    });
    return all;
  }

  RunList blocks_for(std::span<const Group> groups) const {
    RunList all;
    for (const Group group : groups)
      for (const Rank destination : map_.members(group)) all.add(own_block(destination));
    return all;
  }

  /// Returns the slots in which the leader keeps the blocks from all other nodes for the member of its group at
  /// `position`.
  RunList kept_for(std::int32_t position) const { return slots(position, elsewhere_, count_of(mine_)); }

  /// Returns the final places of this rank's blocks from all other nodes.
  RunList from_elsewhere() const {
    RunList all;
    for (const Rank source : map_.ranks())
      if (map_.node_of(source) != node_) all.add(end_of(source));
    return all;
  }

  void gather() {
    const std::int32_t size = count_of(members_), positions = map_.largest_node() - 1;
    PositionedMessages outgoing, incoming;
    for (std::int32_t i = 1; i < size; ++i) {
      const std::int32_t to = (member_ + i) % size, from = (member_ - i + size) % size;
      const Rank target = members_[static_cast<std::size_t>(to)], source = members_[static_cast<std::size_t>(from)];
      outgoing.add(target, i, own_block(target));
      incoming.add(source, i, end_of(source));
      const Group group{node_, map_.group_of(node_, to)};
      if (map_.leader(group) == target)
        if (const auto served = map_.served(node_, group.number); !served.empty())
          outgoing.add(target, i, false, blocks_for(served));
      if (!served_.empty()) incoming.add(source, i, false, gathered(from));
    }
    flow_.phase(packs_within() && positions > 0).move(own_block(rank_), end_of(rank_));
    if (size > 1) flow_.move(blocks_for(served_), gathered(member_));
    add_rounds(positions, outgoing, incoming);
  }

  void exchange() {
    const std::int32_t nodes = map_.nodes();
    const std::shared_ptr<const SlotRows> order = slots_of(spec_, shape_, node_);
    PositionedMessages outgoing, incoming;
    for_each_served([&](Group group, std::int32_t first, std::int32_t size) {
      const std::int32_t position = order ? order->sends_of(node_)[static_cast<std::size_t>(group.node)] + 1
                                          : (group.node - node_ + nodes) % nodes;
      outgoing.add(map_.leader(group), position, size == 1,
                   members_.size() == 1 ? blocks_for({&group, 1}) : slots(first, count_of(members_) * size));
    });
    for (std::int32_t i = 1; i < nodes && leads(); ++i) {
      const std::int32_t from = (node_ - i + nodes) % nodes;
      const auto sources = map_.members(from);
      // `before` is the number of ranks on the other nodes before `from`.
      const std::int32_t before = map_.first(from) - (from > node_ ? count_of(members_) : 0);
      RunList blocks;
      if (mine_.size() > 1) blocks = slots(before * count_of(mine_), count_of(sources) * count_of(mine_));
      else
        for (const Rank source : sources) blocks.add(end_of(source));
      const std::int32_t position = order ? order->receives_of(node_)[static_cast<std::size_t>(from)] + 1 : i;
      incoming.add(map_.leader({from, map_.sender(from, group_)}), position, mine_.size() == 1, std::move(blocks));
    }
    if (order) outgoing.sort(), incoming.sort();
    // Blocks for groups of more than one rank are contiguous in the slots of both leaders.
    flow_.phase(spec_.packing == Packing::memcpy && map_.smallest_group() == 1);
    add_rounds(order ? order->slots : nodes - 1, outgoing, incoming);
  }

  void scatter() {
    PositionedMessages outgoing, incoming;
    const std::int32_t position = member_ - map_.begin(node_, group_.number);
    if (position != 0) incoming.add(mine_.front(), position, true, from_elsewhere());
    for (std::int32_t i = 1; position == 0 && i < count_of(mine_); ++i)
      outgoing.add(mine_[static_cast<std::size_t>(i)], i, true, kept_for(i));
    flow_.phase(packs_within());
    if (position == 0 && mine_.size() > 1) flow_.move(kept_for(0), from_elsewhere());
    add_rounds(map_.largest_group() - 1, outgoing, incoming);
  }

  const Shape& shape_;
  std::int32_t elsewhere_;     ///< number of ranks on other nodes
  std::vector<Group> served_;  ///< groups to which this rank sends, as a leader
  std::int32_t leaving_ = 0;   ///< the first slot of departing blocks
};

SlotFlow leaders(const Spec& spec, const Shape& shape, Rank rank) { return Leaders(spec, shape, rank).make(); }

/// Returns why the family cannot be used, or "" if it can: a leader has more scratch blocks than can be numbered, or
/// nodes cannot exchange in this order.
std::string unsuitable_to_lead(const Spec& spec, const Shape& shape) {
  const std::int64_t ranks = shape.ranks;
  if (const std::string problem = too_unequal_groups(spec, shape); !problem.empty()) return problem;
  if (4 * ranks * ranks + ranks <= INT32_MAX) return "";
  const LeaderMap map(shape, spec.leaders);
  const std::int64_t most = map.largest_group();
  std::int64_t all_leaders = 0;
  for (std::int32_t node = 0; node < map.nodes(); ++node) all_leaders += map.leaders(node);
  for (std::int32_t node = 0; node < map.nodes(); ++node) {
    const std::int64_t size = map.size(node), leaders = map.leaders(node);
    const std::int64_t arrives = ((size - 1) / leaders + 1) * (ranks - size);
    const std::int64_t served = std::min(((all_leaders - leaders - 1) / leaders + 1) * most, ranks - size);
    if (2 * (arrives + size * served) + ranks > INT32_MAX)  // twice, because they may also be staged
      return "a node of " + std::to_string(size) + " ranks has too few leaders for its blocks";
  }
  return "";
}

}  // namespace

extern const Algorithm leaders_family{leaders, unsuitable_to_lead};

}  // namespace swapmeet
