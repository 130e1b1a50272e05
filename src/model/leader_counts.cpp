/// Counts exchanges by leaders, one leader at a time. The groups that each leader of a node serves determine the
/// messages of the leader and those of the other members of its group. Counts and work are computed from them.
#include <algorithm>
#include <array>
#include <utility>

#include "model/unlike_ranks.hpp"
#include "topology/leader_map.hpp"

namespace swapmeet {

namespace {

/// Blocks that a leader sends to other nodes.
struct LeaderLoad {
  std::int64_t groups = 0, destinations = 0;
  bool contiguous = true;    ///< whether the destinations are consecutive ranks
  std::int64_t members = 0;  ///< number of members of its own group
};

bool consecutive(std::span<const Rank> ranks) {
  return std::ranges::adjacent_find(ranks, [](Rank one, Rank next) { return next != one + 1; }) == ranks.end();
}

/// A node, with the loads of its leaders.
struct Node {
  std::int32_t number = 0;
  std::int64_t size = 0, elsewhere = 0;  ///< number of its ranks, and of ranks on other nodes
  std::vector<LeaderLoad> loads{};       ///< of its leaders
  std::int64_t senders = 0;              ///< number of leaders that send to other nodes
  std::int64_t groups = 0;               ///< number of groups to which these send
  std::int64_t packed = 0;               ///< blocks that a rank packs for all leaders, including its own leader
};

/// Numbers for each phase: gather, exchange, scatter.
using Phases = std::array<Volume, 3>;

/// Computes the messages, scratch and copies of leaders and other members.
class LeaderCounter {
 public:
  LeaderCounter(const Spec& spec, const Shape& shape)
      : map_(shape, spec.leaders), window_(spec.window), packs_(spec.packing == Packing::memcpy),
        packs_within_(packs_ && spec.intra == Transport::mpi) {
    for (std::int32_t node = 0; node < map_.nodes(); ++node) {
      if (!consecutive(map_.members(node))) apart_in_nodes_ += map_.size(node);
      for (std::int32_t number = 0; number < map_.leaders(node); ++number) {
        const auto members = map_.members(Group{node, number});
        if (!consecutive(members)) apart_in_groups_ += static_cast<std::int64_t>(members.size());
      }
    }
    if (map_.smallest_group() == map_.largest_group()) group_ = map_.largest_group();
  }

  const LeaderMap& map() const { return map_; }

  Node look_at(std::int32_t number) const {
    Node node{number, map_.size(number), static_cast<std::int64_t>(map_.ranks().size()) - map_.size(number)};
    for (std::int32_t leader = 0; leader < map_.leaders(number); ++leader) {
      node.loads.push_back(load_of(node, leader));
      const LeaderLoad& load = node.loads.back();
      node.senders += load.groups > 0;
      node.groups += load.groups;
      if (packs_within_ && !load.contiguous) node.packed += load.destinations;
    }
    return node;
  }

  static Phases sent(const Node& node, const LeaderLoad& load) {
    return {{{node.size - 1 + node.senders - (load.groups > 0), node.size - 1 + node.elsewhere - load.destinations},
             {load.groups, node.size * load.destinations},
             {node.elsewhere > 0 ? load.members - 1 : 0, (load.members - 1) * node.elsewhere}}};
  }
  Phases received(const Node& node, const LeaderLoad& load) const {
    return {{{(node.size - 1) * (1 + (load.groups > 0)), (node.size - 1) * (1 + load.destinations)},
             {map_.nodes() - 1, node.elsewhere * load.members},
             {}}};
  }
  /// Messages sent by a member that is not a leader.
  static Phases sent_by_member(const Node& node) {
    return {{{node.size - 1 + node.senders, node.size - 1 + node.elsewhere}, {}, {}}};
  }

  /// Returns the scratch blocks of the leader of group `number`.
  std::int64_t scratch(const Node& node, std::int32_t number) const {
    const LeaderLoad& load = node.loads[static_cast<std::size_t>(number)];
    const std::int64_t arrives = load.members > 1 ? load.members * node.elsewhere : 0;
    const std::int64_t leaves = node.size > 1 ? node.size * load.destinations : 0;
    std::int64_t gathering = 0, exchanging = 0, scattering = 0;
    if (packs_within_ && node.size > 1) {
      gathering = node.packed - (load.contiguous ? 0 : load.destinations);
      if (load.groups > 1) gathering += (node.size - 1) * load.destinations;
      scattering = (load.members - 1) * node.elsewhere;
    }
    if (packs_ && node.size == 1) exchanging += apart_in_groups_;
    if (packs_ && load.members == 1)
      exchanging += apart_in_nodes_ - (consecutive(map_.members(node.number)) ? 0 : node.size);
    return arrives + std::max(leaves + std::max(gathering, exchanging), scattering);
  }
  std::int64_t scratch_of_member(const Node& node) const {
    return packs_within_ ? std::max(node.packed, others_follow(node.number) ? 0 : node.elsewhere) : 0;
  }

  /// Returns the copies of a leader: its own block, the blocks that it gathers from and scatters to itself, and packed
  /// blocks.
  Copies copies(const Node& node, const LeaderLoad& load) const {
    Copies copies{1, 1};
    const auto add = [&](std::int64_t blocks, std::int64_t pieces) {
      copies.blocks += static_cast<double>(blocks), copies.pieces += static_cast<double>(pieces);
    };
    if (node.size > 1) add(load.destinations, load.groups);
    if (load.members > 1) add(node.elsewhere, node.elsewhere);
    if (!packs_within_ || node.size == 1) return copies;
    add(node.elsewhere - load.destinations, node.groups - load.groups);
    if (load.groups > 1) add((node.size - 1) * load.destinations, (node.size - 1) * load.groups);
    if (load.members > 1) add((load.members - 1) * node.elsewhere, (load.members - 1) * node.elsewhere);
    return copies;
  }

  /// positions() returns the largest number of positions of any rank in each phase, batches() the number of batches.
  std::array<std::int32_t, 3> positions() const {
    return {map_.largest_node() - 1, map_.nodes() - 1, map_.nodes() > 1 ? map_.largest_group() - 1 : 0};
  }
  std::int64_t batches(std::size_t phase) const { return swapmeet::batches(positions()[phase], window_); }

 private:
  LeaderLoad load_of(const Node& node, std::int32_t leader) const {
    const std::int64_t served = map_.served_count(node.number, leader);
    LeaderLoad load{served, group_ * served, true,
                    static_cast<std::int64_t>(map_.members(Group{node.number, leader}).size())};
    if (group_ > 0 && !packs_within_) return load;
    load.destinations = 0;
    Rank last = 0;
    for (const Group group : map_.served(node.number, leader)) {
      const auto members = map_.members(group);  // in order
      const auto size = static_cast<Rank>(members.size());
      const bool follows = load.destinations == 0 || members.front() == last + 1;
      load.contiguous = load.contiguous && follows && members.back() - members.front() + 1 == size;
      load.destinations += size;
      last = members.back();
    }
    return load;
  }

  /// Whether the ranks of all other nodes, node by node, are consecutive. They can only be for the first and the last
  /// node.
  bool others_follow(std::int32_t node) const {
    const auto first = static_cast<std::size_t>(map_.first(node)), end = first + map_.members(node).size();
    const std::span<const Rank> all = map_.ranks();
    return (first == 0 && consecutive(all.subspan(end))) || (end == all.size() && consecutive(all.first(first)));
  }

  LeaderMap map_;
  std::int32_t window_;
  bool packs_, packs_within_;
  std::int64_t group_ = 0;  ///< number of ranks of each group; 0: groups differ
  /// number of ranks of nodes (groups) whose ranks are not consecutive
  std::int64_t apart_in_nodes_ = 0, apart_in_groups_ = 0;
};

Volume operator+(const Volume& a, const Volume& b) { return {a.messages + b.messages, a.blocks + b.blocks}; }
Volume operator*(std::int64_t times, const Volume& a) { return {times * a.messages, times * a.blocks}; }

}  // namespace

Counts count_leaders(const Spec& spec, const Shape& shape) {
  const LeaderCounter leading(spec, shape);
  const LeaderMap& map = leading.map();
  Counts most;
  most.sizes = {map.largest_node(), map.nodes()};
  Volume all, first;
  bool any = false;
  const auto add = [&](const Phases& sent, std::int64_t scratch) {
    const Volume rank = sent[0] + sent[1] + sent[2];
    if (!std::exchange(any, true)) first = rank;
    most.ranks_differ = most.ranks_differ || rank != first;
    all.keep_most(rank);
    most.scratch_blocks = std::max(most.scratch_blocks, scratch);
  };
  for (std::int32_t number = 0; number < map.nodes(); ++number) {
    const Node node = leading.look_at(number);
    for (std::int32_t leader = 0; leader < map.leaders(number); ++leader)
      add(LeaderCounter::sent(node, node.loads[static_cast<std::size_t>(leader)]), leading.scratch(node, leader));
    if (node.size > map.leaders(number)) add(LeaderCounter::sent_by_member(node), leading.scratch_of_member(node));
  }
  most.messages = all.messages;
  most.blocks = all.blocks;
  return most;
}

void leader_work(const Spec& spec, const Shape& shape, Work& work) {
  const LeaderCounter leading(spec, shape);
  const LeaderMap& map = leading.map();
  std::array<PhaseWork, 3> phases;
  const auto keep = []<class T>(T& most, auto now) { most = std::max(most, static_cast<T>(now)); };
  const auto traffic_of = [&](std::size_t i) -> PhaseTraffic& { return i == 1 ? phases[i].between : phases[i].within; };
  const std::int32_t some = map.nodes() / 2;  // stands for all nodes if all are alike
  for (std::int32_t n = map.equal_nodes() ? some : 0; n < (map.equal_nodes() ? some + 1 : map.nodes()); ++n) {
    const Node node = leading.look_at(n);
    Phases sent{}, received{};  // by the node
    const auto add = [&](Phases& node_total, const Phases& one, std::int64_t times) {
      for (std::size_t i = 0; i < 3; ++i) {
        keep(traffic_of(i).messages, times > 0 ? one[i].messages : 0);
        keep(traffic_of(i).blocks, times > 0 ? one[i].blocks : 0);
        node_total[i] = node_total[i] + times * one[i];
      }
    };
    for (const LeaderLoad& load : node.loads) {
      add(sent, LeaderCounter::sent(node, load), 1);
      add(received, leading.received(node, load), 1);
      if (load.groups > 0 && node.size > 1) keep(phases[0].by_size[0].blocks, load.destinations);
      const Copies copies = leading.copies(node, load);
      keep(work.packed.blocks, copies.blocks);
      keep(work.packed.pieces, copies.pieces);
    }
    add(sent, LeaderCounter::sent_by_member(node), node.size - map.leaders(n));
    for (std::size_t i = 0; i < 3; ++i) {
      keep(traffic_of(i).node_messages, i == 1 ? std::max(sent[i].messages, received[i].messages) : sent[i].messages);
      keep(traffic_of(i).node_blocks, sent[i].blocks);
    }
  }
  // In the first phase messages to leaders are large, and those to other members hold one block.
  const double to_leader = phases[0].by_size[0].blocks;
  for (std::size_t i = 0; i < 3; ++i) append(phases[i], leading.batches(i), work);
  if (phases[0].messages() == 0) return;
  PhaseWork& gather = work.phases.front();
  const std::int64_t messages = gather.messages(), large = to_leader > 0 ? messages - leading.positions()[0] : 0;
  gather.by_size = {EqualMessages{large, to_leader}, EqualMessages{messages - large, 1}};
  spread_batches(gather, leading.batches(0));
}

}  // namespace swapmeet
