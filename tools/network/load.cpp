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
  for (std::size_t r = 0; r < placement.size(); ++r)
    ranks[static_cast<std::size_t>(placement[r])].push_back(static_cast<Rank>(r));
  return ranks;
}

/// The size of each message: bytes, or one block each.
struct Sending {
  std::size_t ranks;
  Weights weights;

  std::int64_t of(Rank from, Rank to) const {
    return weights.empty() ? 1 : weights[static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to)];
  }
  std::int64_t between(const std::vector<Rank>& from, const std::vector<Rank>& to) const {
    if (weights.empty()) return static_cast<std::int64_t>(from.size() * to.size());
    std::int64_t sum = 0;
    for (const Rank source : from)
      for (const Rank destination : to) sum += of(source, destination);
    return sum;
  }
  std::int64_t sent(Rank rank) const {
    std::int64_t sum = -of(rank, rank);
    for (std::size_t other = 0; other < ranks; ++other) sum += of(rank, static_cast<Rank>(other));
    return sum;
  }
  std::int64_t received(Rank rank) const {
    std::int64_t sum = -of(rank, rank);
    for (std::size_t other = 0; other < ranks; ++other) sum += of(static_cast<Rank>(other), rank);
    return sum;
  }
};

}  // namespace

Resources::Resources(const Network& network, Rank ranks)
    : ranks(ranks), capacity(2 * static_cast<std::size_t>(ranks), 1) {
  for (const Link& link : network.links) capacity.push_back(link.capacity);
}

Bound bound(const Routing& routing, const Placement& placement, Weights weights) {
  const Network& network = routing.network();
  const auto ranks = ranks_of_hosts(network, placement);
  std::vector<std::int64_t> blocks(network.links.size());
  std::vector<std::int32_t> path;
  const Sending sizes{placement.size(), weights};
  for (Vertex from = 0; from < network.hosts; ++from)
    for (Vertex to = 0; to < network.hosts; ++to) {
      if (from == to) continue;
      const std::int64_t sent =
          sizes.between(ranks[static_cast<std::size_t>(from)], ranks[static_cast<std::size_t>(to)]);
      if (sent == 0) continue;
      path.clear();
      routing.path(from, to, path);
      for (const std::int32_t link : path) blocks[static_cast<std::size_t>(link)] += sent;
    }
  Bound bound;
  for (Rank rank = 0; rank < static_cast<Rank>(placement.size()); ++rank) {
    bound.injection = std::max(bound.injection, sizes.sent(rank));
    bound.ejection = std::max(bound.ejection, sizes.received(rank));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Link& link = network.links[i];
    const std::int64_t slots = slots_of(blocks[i], link.capacity);
    std::int64_t& part = network.is_host(link.from) ? bound.injection
                         : network.is_host(link.to) ? bound.ejection
                                                    : bound.link;
    const double over_capacity = static_cast<double>(blocks[i]) / link.capacity;
    if (&part == &bound.link && over_capacity > bound.busiest_blocks)
      bound.busiest_link = static_cast<std::int32_t>(i), bound.busiest_blocks = over_capacity;
    part = std::max(part, slots);
  }
  bound.slots = std::max({bound.link, bound.injection, bound.ejection});
  return bound;
}

std::int64_t NetworkLoad::slots() const { return std::accumulate(largest.begin(), largest.end(), std::int64_t{0}); }

namespace {

/// The messages of a round. All rounds are kept in memory, but only one rank's schedule at a time.
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

NetworkLoad network_load(const Routing& routing, const Placement& placement, const Spec& spec,
                         const std::shared_ptr<const SlotRows>& order, Weights weights) {
  const Shape shape{static_cast<Rank>(placement.size()), {placement}, order};
  const Sending sizes{placement.size(), weights};
  Rounds rounds;
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Schedule schedule = generate(spec, shape, rank);
    std::size_t first = 0;  // round of the current step
    for (const Step& step : schedule.steps) {
      const auto sends = schedule.sends_of(step);
      const std::size_t most = std::max(sends.size(), schedule.receives_of(step).size());
      if (most == 0) {
        // A step without messages is an idle slot here.
        first += spec.family == Family::direct || (spec.order == Order::topology && step.purpose == Purpose::copy);
        continue;
      }
      for (std::size_t i = 0; i < sends.size(); ++i) {
        const std::size_t round = first + i / step.in_flight();
        if (rounds.size() <= round) rounds.resize(round + 1);
        rounds[round].push_back(
            {rank, sends[i].peer, weights.empty() ? schedule.block_count(sends[i]) : sizes.of(rank, sends[i].peer)});
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
