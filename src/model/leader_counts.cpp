/// Ranks are counted one leader at a time: what one sends, and what the other members of its group do, follows from the
/// groups that each leader of the node serves.
#include "model/irregular.hpp"

#include <algorithm>
#include <utility>

#include "topology/leader_map.hpp"

namespace swapmeet {

namespace {

/// What a leader sends on.
struct Load {
  std::int64_t groups = 0, destinations = 0;
  bool contiguous = true;  ///< the destinations are consecutive ranks
};

/// Whether ranks that are listed node by node follow one another.
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
  std::vector<std::int32_t> gaps_;  ///< between two ranks up to here
};

struct Node {
  std::int32_t number = 0;
  std::int64_t size = 0, elsewhere = 0;  ///< ranks of it, and of others
  std::vector<Load> loads{};             ///< of its leaders
  std::int64_t senders = 0;              ///< leaders that send anything
  std::int64_t packed = 0;               ///< blocks of a rank for all leaders that it packs, its own leader included
};

/// The numbers of a rank.
struct Tally {
  std::int64_t messages = 0, blocks = 0, scratch = 0;
};

class Counting {
 public:
  Counting(const Spec& spec, const Shape& shape)
      : map_(shape, spec.leaders), consecutive_(map_), packs_(spec.packing == Packing::memcpy),
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
      const Load& load = node.loads.back();
      node.senders += load.groups > 0;
      if (packs_within_ && !load.contiguous) node.packed += load.destinations;
    }
    return node;
  }

  /// Of the leader of group `number`.
  Tally leader(const Node& node, std::int32_t number) const {
    const Load& load = node.loads[static_cast<std::size_t>(number)];
    const auto mine = static_cast<std::int64_t>(map_.members(Group{node.number, number}).size());
    const std::int64_t own = node.size - 1 + (node.elsewhere - load.destinations);  // blocks that it gives to others
    const std::int64_t scattered = node.elsewhere > 0 ? mine - 1 : 0;               // messages
    Tally tally{node.size - 1 + node.senders - (load.groups > 0) + load.groups + scattered,
                own + node.size * load.destinations + (mine - 1) * node.elsewhere};
    const std::int64_t arrives = mine > 1 ? mine * node.elsewhere : 0;
    const std::int64_t leaves = node.size > 1 ? node.size * load.destinations : 0;
    std::int64_t gathering = 0, exchanging = 0, scattering = 0;
    if (packs_within_ && node.size > 1) {
      gathering = node.packed - (load.contiguous ? 0 : load.destinations);
      if (load.groups > 1) gathering += (node.size - 1) * load.destinations;
      scattering = (mine - 1) * node.elsewhere;
    }
    if (packs_ && node.size == 1) exchanging += apart_in_groups_;
    if (packs_ && mine == 1) exchanging += apart_in_nodes_ - (consecutive_(map_.members(node.number)) ? 0 : node.size);
    tally.scratch = arrives + std::max(leaves + std::max(gathering, exchanging), scattering);
    return tally;
  }

  /// Of every other member of the node.
  Tally member(const Node& node) const {
    const auto [before, behind] = others(node.number);
    const bool lands = consecutive_(before, behind);
    return {node.size - 1 + node.senders, node.size - 1 + node.elsewhere,
            packs_within_ ? std::max(node.packed, lands ? 0 : node.elsewhere) : 0};
  }

 private:
  Load load_of(const Node& node, std::int32_t leader) const {
    Load load{map_.served_count(node.number, leader), node.elsewhere, true};
    if (map_.leaders(node.number) == 1) {
      const auto [before, behind] = others(node.number);
      load.contiguous = consecutive_(behind, before);
      return load;
    }
    // Equal groups need not be looked at one by one, unless the first two follow one another.
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

  /// The ranks of nodes before and behind this one.
  std::pair<std::span<const Rank>, std::span<const Rank>> others(std::int32_t node) const {
    const auto first = static_cast<std::size_t>(map_.first(node)), size = static_cast<std::size_t>(map_.size(node));
    return {std::span(map_.ranks()).first(first), std::span(map_.ranks()).subspan(first + size)};
  }

  LeaderMap map_;
  Consecutive consecutive_;
  bool packs_, packs_within_;
  std::int64_t group_ = 0;                                 ///< ranks of each group; 0: they differ
  std::int64_t apart_in_nodes_ = 0, apart_in_groups_ = 0;  ///< ranks of nodes (groups) whose ranks are not consecutive
};

void keep_most(Tally& most, const Tally& now) {
  most.messages = std::max(most.messages, now.messages);
  most.blocks = std::max(most.blocks, now.blocks);
  most.scratch = std::max(most.scratch, now.scratch);
}

}  // namespace

Counts count_leaders(const Spec& spec, const Shape& shape) {
  const Counting counting(spec, shape);
  const LeaderMap& map = counting.map();
  Counts most;
  most.sizes = {map.largest_node(), map.nodes()};
  most.radices.resize(2);
  Tally tally;
  const Tally first = counting.leader(counting.look_at(0), 0);
  const auto add = [&](const Tally& rank) {
    keep_most(tally, rank);
    most.ranks_differ = most.ranks_differ || rank.messages != first.messages || rank.blocks != first.blocks;
  };
  for (std::int32_t number = 0; number < map.nodes(); ++number) {
    const Node node = counting.look_at(number);
    for (std::int32_t leader = 0; leader < map.leaders(number); ++leader) add(counting.leader(node, leader));
    if (node.size > map.leaders(number)) add(counting.member(node));
  }
  most.messages = tally.messages;
  most.blocks = tally.blocks;
  most.scratch_blocks = tally.scratch;
  for (const std::int32_t positions :
       {map.largest_node() - 1, map.nodes() - 1, map.nodes() > 1 ? map.largest_group() - 1 : 0})
    if (positions > 0) most.batches += spec.window == 0 ? 1 : (positions - 1) / spec.window + 1;
  return most;
}

/// By position: what the rank that does most sends.
std::vector<RoundCounts> leader_rounds(const Spec& spec, const Shape& shape) {
  const Counting counting(spec, shape);
  const LeaderMap& map = counting.map();
  const auto none = [](std::int32_t positions) {
    return std::vector<Tally>(static_cast<std::size_t>(std::max(1, positions)));
  };
  std::vector<Tally> gather = none(map.largest_node()), exchange = none(map.nodes()),
                     scatter = none(map.largest_group());
  for (std::int32_t number = 0; number < (map.equal_nodes() ? 1 : map.nodes()); ++number) {
    const Node node = counting.look_at(number);
    const std::int64_t most = std::ranges::max(node.loads, {}, &Load::destinations).destinations;
    if (node.size > 1)
      // and all before it
      keep_most(gather[static_cast<std::size_t>(node.size) - 1], {1 + (node.senders > 0), 1 + most});
    for (std::int32_t leader = 0; leader < map.leaders(number); ++leader) {
      std::vector<Tally> sent(exchange.size());
      for (const Group group : map.served(number, leader)) {
        Tally& round = sent[static_cast<std::size_t>((group.node - number + map.nodes()) % map.nodes())];
        ++round.messages;
        round.blocks += node.size * static_cast<std::int64_t>(map.members(group).size());
      }
      for (std::size_t i = 0; i < sent.size(); ++i) keep_most(exchange[i], sent[i]);
      keep_most(scatter[map.members(Group{number, leader}).size() - 1], {node.elsewhere > 0, node.elsewhere});
    }
  }
  for (std::vector<Tally>* phase : {&gather, &scatter})
    for (std::size_t i = phase->size() - 1; i-- > 0;) keep_most((*phase)[i], (*phase)[i + 1]);
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

}  // namespace swapmeet
