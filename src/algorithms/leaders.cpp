/// Exchange by leaders: few messages between nodes, each for many pairs of ranks (topology/leader_map.hpp says who
/// leads whom). Three phases, each with its messages in one step, or in several if the window says so:
///   gather    a rank sends to each member of its node the block for it, and to each leader there, in a message of its
///             own, the blocks that this leader sends on
///   exchange  a leader sends to each group that it serves, in one message, the blocks of all members of its node
///   scatter   a leader sends to each other member of its group, in one message, its blocks from all other nodes
/// Scratch of a leader: what arrives as [source][destination], then what leaves as [group served][source][destination].
/// A group of one rank receives where its blocks end; a node of one rank sends from where they begin.
///
/// The height of a message (algorithms/phase.hpp) is how many members on (gather) or nodes on (exchange) its receiver
/// is, or its receiver's place in the group (scatter). Between nodes it is the slot of the two nodes with
/// order=topology.                                               [Proof: docs/proofs.md, "Leaders of nodes"]
///
/// Source:  fft, section 3; kandalla2009 (several leaders of a node)
/// Cost:    of a leader on N nodes of Q ranks, with k leaders and so groups of G = Q/k ranks:
///          K = (Q-1) + (k-1) + (N-1) + (G-1) and D = (Q-1) + (N-1)·((k-1)·G + Q·G + (G-1)·Q); any nodes:
///          model/counts.hpp                                      [checked by tests/core/leaders_test.py]
/// Needs:   any nodes.   Scratch: (N-1)·Q·G for what arrives (G > 1) and as much for what leaves (Q > 1). Where
///          messages within a node must be contiguous (intra=mpi, pack=memcpy) also the larger of (N-1)·(k-1)·G +
///          (N-1)·(Q-1)·G with the former, and (N-1)·(G-1)·Q without it. [checked by tests/core/leaders_test.py]
#include "algorithms/leaders.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/phase.hpp"
#include "schedule/builder.hpp"
#include "schedule/run_list.hpp"
#include "topology/leader_map.hpp"

namespace swapmeet {

namespace {

Runs runs_of(const RunList& blocks) { return {blocks.runs().begin(), blocks.runs().end()}; }

std::int32_t count_of(const auto& list) { return static_cast<std::int32_t>(list.size()); }

class Leaders {
 public:
  Leaders(const Spec& spec, const Shape& shape, Rank rank)
      : spec_(spec), shape_(shape), rank_(rank), map_(shape, spec.leaders), plan_(shape, rank),
        node_(map_.node_of(rank)), members_(map_.members(node_)), member_(place_in(members_)),
        group_{node_, map_.group_of(node_, member_)}, mine_(map_.members(group_)),
        elsewhere_(shape.ranks - count_of(members_)) {
    if (mine_.front() == rank) served_ = map_.served(node_, group_.number);
    if (mine_.front() == rank && mine_.size() > 1) leaving_ = count_of(mine_) * elsewhere_;
    free_ = leaving_;
    if (members_.size() > 1)
      for (const Group group : served_) free_ += count_of(members_) * count_of(map_.members(group));
    scratch_ = free_;
  }

  Schedule make() && {
    gather();
    if (map_.nodes() > 1) exchange();
    if (map_.nodes() > 1 && map_.largest_group() > 1) scatter();
    return std::move(plan_.scratch(scratch_)).finish();
  }

 private:
  std::int32_t place_in(std::span<const Rank> ranks) const {
    return static_cast<std::int32_t>(std::ranges::lower_bound(ranks, rank_) - ranks.begin());
  }
  bool packs_within() const { return spec_.packing == Packing::memcpy && spec_.intra == Transport::mpi; }

  /// Calls use(group, where its blocks begin in scratch, how many ranks it has) for each group that we serve.
  void for_each_served(auto use) const {
    for (std::int32_t first = leaving_; const Group group : served_) {
      const std::int32_t size = count_of(map_.members(group));
      use(group, first, size);
      first += count_of(members_) * size;
    }
  }

  /// What our node's member number `source` sends through us, as it is kept in scratch.
  Runs gathered(std::int32_t source) const {
    RunList blocks;
    for_each_served([&](Group, std::int32_t first, std::int32_t size) {
      for (std::int32_t i = 0; i < size; ++i) blocks.add({Buffer::scratch, first + source * size + i});
    });
    return runs_of(blocks);
  }

  Runs blocks_for(std::span<const Group> groups) const {
    RunList blocks;
    for (const Group group : groups)
      for (const Rank destination : map_.members(group)) blocks.add({Buffer::send, destination});
    return runs_of(blocks);
  }

  /// What arrives from all other nodes for the member of our group at `place`, as it is kept by the leader.
  Runs kept_for(std::int32_t place) const { return {run_of(Buffer::scratch, place, elsewhere_, count_of(mine_))}; }

  /// The same where it ends.
  Runs from_elsewhere() const {
    RunList blocks;
    for (const Rank source : map_.ranks())
      if (map_.node_of(source) != node_) blocks.add({Buffer::receive, source});
    return runs_of(blocks);
  }

  void gather() {
    Phase phase{map_.largest_node() - 1, packs_within(), free_};
    phase.copies.push_back({{sendblock(rank_)}, {receiveblock(rank_)}});
    const std::int32_t size = count_of(members_);
    for (std::int32_t i = 1; i < size; ++i) {
      const std::int32_t to = (member_ + i) % size, from = (member_ - i + size) % size;
      const Rank target = members_[static_cast<std::size_t>(to)], source = members_[static_cast<std::size_t>(from)];
      phase.outgoing.push_back({target, i, true, {sendblock(target)}});
      phase.incoming.push_back({source, i, true, {receiveblock(source)}});
      const Group group{node_, map_.group_of(node_, to)};
      if (map_.leader(group) == target)
        if (const auto served = map_.served(node_, group.number); !served.empty())
          phase.outgoing.push_back({target, i, false, blocks_for(served)});
      if (!served_.empty()) phase.incoming.push_back({source, i, false, gathered(from)});
    }
    if (size > 1) phase.copies.emplace_back(blocks_for(served_), gathered(member_));
    run(phase);
  }

  void exchange() {
    const std::int32_t nodes = map_.nodes();
    const bool packs = spec_.packing == Packing::memcpy && map_.smallest_group() == 1;  // others are contiguous
    const SlotRows* const order = spec_.order == Order::topology ? shape_.order.get() : nullptr;
    Phase phase{order ? order->slots : nodes - 1, packs, free_};
    for_each_served([&](Group group, std::int32_t first, std::int32_t size) {
      Runs blocks = {run_of(Buffer::scratch, first, count_of(members_) * size)};
      if (members_.size() == 1) blocks = blocks_for({&group, 1});
      const std::int32_t height = order ? order->sends_of(node_)[static_cast<std::size_t>(group.node)] + 1
                                        : (group.node - node_ + nodes) % nodes;
      phase.outgoing.push_back({map_.leader(group), height, size == 1, std::move(blocks)});
    });
    for (std::int32_t i = 1; i < nodes && mine_.front() == rank_; ++i) {
      const std::int32_t from = (node_ - i + nodes) % nodes;
      const auto sources = map_.members(from);
      RunList ends;
      for (const Rank source : sources) ends.add({Buffer::receive, source});
      const std::int32_t before = map_.first(from) - (from > node_ ? count_of(members_) : 0);  // ranks of other nodes
      const Run kept = run_of(Buffer::scratch, before * count_of(mine_), count_of(sources) * count_of(mine_));
      const Rank sender = map_.leader({from, map_.sender(from, group_)});
      const std::int32_t height = order ? order->receives_of(node_)[static_cast<std::size_t>(from)] + 1 : i;
      phase.incoming.push_back({sender, height, mine_.size() == 1, mine_.size() == 1 ? runs_of(ends) : Runs{kept}});
    }
    if (order)
      for (auto* const parcels : {&phase.outgoing, &phase.incoming})
        std::ranges::stable_sort(*parcels, {}, &Parcel::height);
    run(phase);
  }

  void scatter() {
    Phase phase{map_.largest_group() - 1, packs_within(), leaving_};
    const std::int32_t place = place_in(mine_);
    if (place != 0) phase.incoming.push_back({mine_.front(), place, true, from_elsewhere()});
    for (std::int32_t i = 1; place == 0 && i < count_of(mine_); ++i)
      phase.outgoing.push_back({mine_[static_cast<std::size_t>(i)], i, true, kept_for(i)});
    if (place == 0 && mine_.size() > 1) phase.copies.emplace_back(kept_for(0), from_elsewhere());
    run(phase);
  }

  void run(const Phase& phase) { scratch_ = std::max(scratch_, add_phase(plan_, spec_, phase)); }

  const Spec& spec_;
  const Shape& shape_;
  Rank rank_;
  LeaderMap map_;
  ScheduleBuilder plan_;
  std::int32_t node_;
  std::span<const Rank> members_;                      ///< of our node
  std::int32_t member_;                                ///< which of them we are
  Group group_;                                        ///< that we are in
  std::span<const Rank> mine_;                         ///< its members; the first leads it
  std::int32_t elsewhere_;                             ///< ranks of other nodes
  std::vector<Group> served_;                          ///< that we send to, as a leader
  std::int32_t leaving_ = 0, free_ = 0, scratch_ = 0;  ///< in scratch: where what leaves begins; its end; blocks in all
};

}  // namespace

Schedule leaders(const Spec& spec, const Shape& shape, Rank rank) { return Leaders(spec, shape, rank).make(); }

}  // namespace swapmeet
