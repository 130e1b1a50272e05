#include <algorithm>
#include <numeric>

#include "algorithms/generate.hpp"
#include "algorithms/orders.hpp"
#include "network/flows.hpp"

namespace swapmeet {

namespace {

std::int64_t slots_of(std::int64_t blocks, std::int32_t capacity) { return (blocks + capacity - 1) / capacity; }

std::vector<std::vector<Rank>> ranks_of_hosts(const Network& network, const Placement& placement) {
  std::vector<std::vector<Rank>> ranks(static_cast<std::size_t>(network.hosts));
  for (std::size_t r = 0; r < placement.size(); ++r) ranks[static_cast<std::size_t>(placement[r])].push_back(static_cast<Rank>(r));
  return ranks;
}

}  // namespace

Resources::Resources(const Network& network, Rank ranks) : ranks(ranks), capacity(2 * static_cast<std::size_t>(ranks), 1) {
  for (const Link& link : network.links) capacity.push_back(link.capacity);
}

Bound bound(const Routing& routing, const Placement& placement) {
  const Network& network = routing.network();
  const auto ranks = ranks_of_hosts(network, placement);
  std::vector<std::int64_t> blocks(network.links.size());
  std::vector<std::int32_t> path;
  for (Vertex from = 0; from < network.hosts; ++from)
    for (Vertex to = 0; to < network.hosts; ++to) {
      const auto messages = ranks[static_cast<std::size_t>(from)].size() * ranks[static_cast<std::size_t>(to)].size();
      if (messages == 0 || from == to) continue;
      path.clear();
      routing.path(from, to, path);
      for (const std::int32_t link : path) blocks[static_cast<std::size_t>(link)] += static_cast<std::int64_t>(messages);
    }
  Bound bound;
  bound.injection = bound.ejection = static_cast<std::int64_t>(placement.size()) - 1;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Link& link = network.links[i];
    const std::int64_t slots = slots_of(blocks[i], link.capacity);
    std::int64_t& part = network.is_host(link.from) ? bound.injection : network.is_host(link.to) ? bound.ejection : bound.link;
    if (&part == &bound.link && slots > part) bound.busiest_link = static_cast<std::int32_t>(i);
    part = std::max(part, slots);
  }
  bound.slots = std::max({bound.link, bound.injection, bound.ejection});
  return bound;
}

std::int64_t NetworkLoad::slots() const { return std::accumulate(largest.begin(), largest.end(), std::int64_t{0}); }

namespace {

/// Messages of a round. All rounds are kept, but not schedules of all ranks at a time.
struct Sent {
  Rank from, to;
  std::int64_t blocks;
};
using Rounds = std::vector<std::vector<Sent>>;

NetworkLoad load_of(const Rounds& rounds, const Routing& routing, const Placement& placement) {
  const Resources resources(routing.network(), static_cast<Rank>(placement.size()));
  NetworkLoad load;
  load.blocks.assign(routing.network().links.size(), 0);
  std::vector<std::int64_t> blocks(resources.capacity.size());
  std::vector<std::int32_t> path, touched;
  for (const auto& round : rounds) {
    std::int64_t most = 0;
    touched.clear();
    const auto add = [&](std::int32_t resource, std::int64_t count) {
      const auto at = static_cast<std::size_t>(resource);
      if (blocks[at] == 0) touched.push_back(resource);
      most = std::max(most, slots_of(blocks[at] += count, resources.capacity[at]));
    };
    for (const Sent& sent : round) {
      add(resources.sending(sent.from), sent.blocks);
      add(resources.receiving(sent.to), sent.blocks);
      path.clear();
      routing.path(placement[static_cast<std::size_t>(sent.from)], placement[static_cast<std::size_t>(sent.to)], path);
      for (const std::int32_t link : path) {
        add(resources.link(link), sent.blocks);
        load.blocks[static_cast<std::size_t>(link)] += sent.blocks;
      }
    }
    for (const std::int32_t resource : touched) blocks[static_cast<std::size_t>(resource)] = 0;
    load.largest.push_back(most);
  }
  return load;
}

}  // namespace

NetworkLoad network_load(const Routing& routing, const Placement& placement, const Spec& spec, const std::shared_ptr<const SlotRows>& order) {
  const Shape shape{static_cast<Rank>(placement.size()), {placement}, order};
  Rounds rounds;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Schedule schedule = generate(spec, shape, rank);
    std::size_t first = 0;  // round of the step
    for (const Step& step : schedule.steps) {
      const auto sends = schedule.sends_of(step);
      const std::size_t most = std::max(sends.size(), schedule.receives_of(step).size());
      if (most == 0) {
        first += spec.family == Family::direct;  // a slot in which the rank is idle
        continue;
      }
      for (std::size_t i = 0; i < sends.size(); ++i) {
        const std::size_t round = first + i / step.in_flight();
        if (rounds.size() <= round) rounds.resize(round + 1);
        rounds[round].push_back({rank, sends[i].peer, schedule.block_count(sends[i])});
      }
      first += (most + step.in_flight() - 1) / step.in_flight();
    }
  }
  return load_of(rounds, routing, placement);
}

NetworkLoad order_load(const Routing& routing, const Placement& placement, Order order, std::uint64_t seed) {
  const Shape shape{static_cast<Rank>(placement.size())};
  Rounds rounds(placement.size());
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const std::vector<Rank> to = peer_order(order, shape, rank, seed).to;
    for (std::size_t i = 0; i < to.size(); ++i)
      if (to[i] != rank) rounds[i].push_back({rank, to[i], 1});
  }
  return load_of(rounds, routing, placement);
}

}  // namespace swapmeet
