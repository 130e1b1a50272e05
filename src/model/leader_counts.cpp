/// Counts exchanges by leaders, one leader at a time. The groups that each leader of a node serves determine the
/// messages of the leader and those of the other members of its group. Counts, rounds and work are computed from them.
#include <algorithm>
#include <array>
#include <utility>

#include "model/irregular.hpp"
#include "topology/leader_map.hpp"

namespace swapmeet {

namespace {

/// Blocks that a leader sends to other nodes.
struct LeaderLoad {
  std::int64_t groups = 0, destinations = 0;
  bool contiguous = true;    ///< whether the destinations are consecutive ranks
  std::int64_t members = 0;  ///< number of members of its own group
};

/// Tells whether ranks in the list of LeaderMap::ranks() are consecutive.
class Consecutive {
 public:
  explicit Consecutive(const LeaderMap& map) : map_(map), gaps_{0} {
    for (std::size_t i = 0; i < map.ranks().size(); ++i)
      gaps_.push_back(gaps_.back() + (i > 0 && map.ranks()[i] != map.ranks()[i - 1] + 1));
  }
  bool operator()(std::span<const Rank> some) const {
    const auto first = static_cast<std::size_t>(some.data() - map_.ranks().data());
    return some.empty() || gaps_[first + some.size()] == gaps_[first + 1];
  }
  bool operator()(std::span<const Rank> some, std::span<const Rank> then) const {
    return (*this)(some) && (*this)(then) && (some.empty() || then.empty() || then.front() == some.back() + 1);
  }

 private:
  const LeaderMap& map_;
  std::vector<std::int32_t> gaps_;  ///< for each index, number of gaps among the listed ranks before it
};

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
using Phases = std::array<Tally, 3>;

/// Computes the messages, scratch and copies of leaders and other members.
class LeaderCounter {
 public:
  LeaderCounter(const Spec& spec, const Shape& shape)
      : map_(shape, spec.leaders), consecutive_(map_), window_(spec.window), packs_(spec.packing == Packing::memcpy),
        packs_within_(packs_ && spec.intra == Transport::mpi) {
    for (std::int32_t node = 0; node < map_.nodes(); ++node) {
      if (!consecutive_(map_.members(node))) apart_in_nodes_ += map_.size(node);
      for (std::int32_t number = 0; number < map_.leaders(node); ++number) {
        const auto members = map_.members(Group{node, number});
        if (!consecutive_(members)) apart_in_groups_ += static_cast<std::int64_t>(members.size());
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
      exchanging += apart_in_nodes_ - (consecutive_(map_.members(node.number)) ? 0 : node.size);
    return arrives + std::max(leaves + std::max(gathering, exchanging), scattering);
  }
  std::int64_t scratch_of_member(const Node& node) const {
    const auto [before, behind] = others(node.number);
    return packs_within_ ? std::max(node.packed, consecutive_(before, behind) ? 0 : node.elsewhere) : 0;
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
  std::int64_t batches(std::size_t phase) const {
    const std::int32_t all = positions()[phase];
    return window_ == 0 ? all > 0 : (all + window_ - 1) / window_;
  }

 private:
  LeaderLoad load_of(const Node& node, std::int32_t leader) const {
    LeaderLoad load{map_.served_count(node.number, leader), node.elsewhere, true,
                    static_cast<std::int64_t>(map_.members(Group{node.number, leader}).size())};
    if (map_.leaders(node.number) == 1) {
      const auto [before, behind] = others(node.number);
      load.contiguous = consecutive_(behind, before);
      return load;
    }
    // If groups are equal, it suffices to look at the first two groups, unless these are consecutive.
    std::vector<Group> groups = map_.served(node.number, leader, group_ > 0 ? 2 : SIZE_MAX);
    const auto all_follow = [&] {
      for (std::size_t i = 1; i < groups.size(); ++i)
        if (!consecutive_(map_.members(groups[i - 1]), map_.members(groups[i]))) return false;
      return groups.empty() || consecutive_(map_.members(groups[0]));
    };
    load.contiguous = all_follow();
    if (load.contiguous && group_ > 0) groups = map_.served(node.number, leader), load.contiguous = all_follow();
    load.destinations = group_ * load.groups;
    if (group_ == 0)
      for (const Group group : groups) load.destinations += static_cast<std::int64_t>(map_.members(group).size());
    return load;
  }

  /// Returns the ranks of the nodes before this node, and those of the nodes after it.
  std::pair<std::span<const Rank>, std::span<const Rank>> others(std::int32_t node) const {
    const auto first = static_cast<std::size_t>(map_.first(node)), size = static_cast<std::size_t>(map_.size(node));
    return {std::span(map_.ranks()).first(first), std::span(map_.ranks()).subspan(first + size)};
  }

  LeaderMap map_;
  Consecutive consecutive_;
  std::int32_t window_;
  bool packs_, packs_within_;
  std::int64_t group_ = 0;  ///< number of ranks of each group; 0: groups differ
  /// number of ranks of nodes (groups) whose ranks are not consecutive
  std::int64_t apart_in_nodes_ = 0, apart_in_groups_ = 0;
};

Tally operator+(const Tally& a, const Tally& b) { return {a.messages + b.messages, a.blocks + b.blocks}; }
Tally operator*(std::int64_t times, const Tally& a) { return {times * a.messages, times * a.blocks}; }
bool operator!=(const Tally& a, const Tally& b) { return a.messages != b.messages || a.blocks != b.blocks; }

}  // namespace

Counts count_leaders(const Spec& spec, const Shape& shape) {
  const LeaderCounter leading(spec, shape);
  const LeaderMap& map = leading.map();
  Counts most;
  most.sizes = {map.largest_node(), map.nodes()};
  most.radices.resize(2);
  Tally all, first;
  bool any = false;
  const auto add = [&](const Phases& sent, std::int64_t scratch) {
    const Tally rank = sent[0] + sent[1] + sent[2];
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
  for (std::size_t phase = 0; phase < 3; ++phase) most.batches += leading.batches(phase);
  return most;
}

/// Returns the counts for each position, of the rank that sends most.
std::vector<RoundCounts> leader_rounds(const Spec& spec, const Shape& shape) {
  const LeaderCounter leading(spec, shape);
  const LeaderMap& map = leading.map();
  const auto none = [](std::int32_t positions) {
    return std::vector<Tally>(static_cast<std::size_t>(std::max(1, positions)));
  };
  std::vector<Tally> gather = none(map.largest_node()), exchange = none(map.nodes()),
                     scatter = none(map.largest_group());
  for (std::int32_t number = 0; number < (map.equal_nodes() ? 1 : map.nodes()); ++number) {
    const Node node = leading.look_at(number);
    const std::int64_t most = std::ranges::max(node.loads, {}, &LeaderLoad::destinations).destinations;
    if (node.size > 1)
      // The same holds at all smaller positions; see the loop over gather and scatter.
      gather[static_cast<std::size_t>(node.size) - 1].keep_most({1 + (node.senders > 0), 1 + most});
    for (std::int32_t leader = 0; leader < map.leaders(number); ++leader) {
      std::vector<Tally> sent(exchange.size());
      for (const Group group : map.served(number, leader)) {
        Tally& round = sent[static_cast<std::size_t>((group.node - number + map.nodes()) % map.nodes())];
        ++round.messages;
        round.blocks += node.size * static_cast<std::int64_t>(map.members(group).size());
      }
      for (std::size_t i = 0; i < sent.size(); ++i) exchange[i].keep_most(sent[i]);
      scatter[map.members(Group{number, leader}).size() - 1].keep_most({node.elsewhere > 0, node.elsewhere});
    }
  }
  for (std::vector<Tally>* phase : {&gather, &scatter})
    for (std::size_t i = phase->size() - 1; i-- > 0;) (*phase)[i].keep_most((*phase)[i + 1]);
  std::vector<RoundCounts> rounds;
  const auto add = [&](std::int32_t dimension, std::int32_t digit, const std::vector<Tally>& phase) {
    for (std::size_t i = 1; i < phase.size(); ++i)
      if (const auto position = static_cast<std::int32_t>(i); phase[i].messages > 0)
        rounds.push_back({dimension, digit, 1, position, phase[i].messages, phase[i].blocks});
  };
  add(0, 0, gather);
  add(1, 0, exchange);
  add(0, 1, scatter);
  return rounds;
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
  for (std::size_t i = 0; i < 3; ++i) {
    PhaseWork& phase = phases[i];
    const std::int64_t messages = phase.messages();
    if (messages == 0) continue;
    if (i == 0) {  // large messages to leaders, and one block to each member
      phase.by_size[0].messages = phase.by_size[0].blocks > 0 ? messages - leading.positions()[0] : 0;
      phase.by_size[1] = {messages - phase.by_size[0].messages, 1};
    } else {
      phase.by_size[0] = {messages, static_cast<double>(traffic_of(i).blocks) / static_cast<double>(messages)};
    }
    spread_batches(phase, leading.batches(i));
    work.phases.push_back(phase);
  }
}

}  // namespace swapmeet
