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
  std::int64_t members = 0;  ///< number of members of its own group
};

/// A node, with the loads of its leaders.
struct Node {
  std::int64_t size = 0, elsewhere = 0;  ///< number of its ranks, and of ranks on other nodes
  std::vector<LeaderLoad> loads{};       ///< of its leaders
  std::int64_t senders = 0;              ///< number of leaders that send to other nodes
  std::int64_t groups = 0;               ///< number of groups to which these send
};

/// Numbers for each phase: gather, exchange, scatter.
using Phases = std::array<Volume, 3>;

/// Computes the messages and copies of leaders and other members.
class LeaderCounter {
 public:
  LeaderCounter(const Spec& spec, const Shape& shape)
      : map_(shape, spec.leaders), window_(spec.window),
        packs_within_(spec.packing == Packing::memcpy && spec.intra == Transport::mpi) {
    if (map_.smallest_group() == map_.largest_group()) group_ = map_.largest_group();
  }

  const LeaderMap& map() const { return map_; }

  Node look_at(std::int32_t number) const {
    Node node{map_.size(number), static_cast<std::int64_t>(map_.ranks().size()) - map_.size(number)};
    for (std::int32_t leader = 0; leader < map_.leaders(number); ++leader) {
      const LeaderLoad& load = node.loads.emplace_back(load_of(number, leader));
      node.senders += load.groups > 0;
      node.groups += load.groups;
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
  LeaderLoad load_of(std::int32_t node, std::int32_t leader) const {
    const std::int64_t served = map_.served_count(node, leader);
    LeaderLoad load{served, group_ * served, static_cast<std::int64_t>(map_.members(Group{node, leader}).size())};
    if (group_ == 0)
      for (const Group group : map_.served(node, leader))
        load.destinations += static_cast<std::int64_t>(map_.members(group).size());
    return load;
  }

  LeaderMap map_;
  std::int32_t window_;
  bool packs_within_;
  std::int64_t group_ = 0;  ///< number of ranks of each group; 0: groups differ
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
  const auto add = [&](const Phases& sent) {
    const Volume rank = sent[0] + sent[1] + sent[2];
    if (!std::exchange(any, true)) first = rank;
    most.ranks_differ = most.ranks_differ || rank != first;
    all.keep_most(rank);
  };
  for (std::int32_t number = 0; number < map.nodes(); ++number) {
    const Node node = leading.look_at(number);
    for (const LeaderLoad& load : node.loads) add(LeaderCounter::sent(node, load));
    if (node.size > map.leaders(number)) add(LeaderCounter::sent_by_member(node));
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
