#include "network/routing.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/random.hpp"

namespace swapmeet {

Result<Routing> Routing::make(const Network& network, Spread spread, std::uint64_t seed,
                              const std::vector<Vertex>* used) {
  std::vector<Vertex> hosts(static_cast<std::size_t>(network.hosts));
  std::iota(hosts.begin(), hosts.end(), 0);
  if (used) {
    hosts = *used;
    std::ranges::sort(hosts);
    hosts.erase(std::ranges::unique(hosts).begin(), hosts.end());
  }
  Routing routing;
  routing.network_ = &network;
  routing.spread_ = spread;
  routing.seed_ = seed;
  std::vector<std::int32_t> row_of(static_cast<std::size_t>(network.vertices()), -1);
  routing.table_of_.resize(static_cast<std::size_t>(network.hosts), -1);
  routing.shared_.resize(static_cast<std::size_t>(network.hosts));
  for (const Vertex host : hosts) {
    const auto in = network.links_to(host);
    const bool shared = in.size() == 1;
    const Vertex target = shared ? network.links[static_cast<std::size_t>(in.front())].from : host;
    std::int32_t& row = row_of[static_cast<std::size_t>(target)];
    if (row < 0) {
      row = static_cast<std::int32_t>(routing.hops_.size());
      const std::vector<std::int32_t> hops = hops_to(network, target);
      for (const Vertex from : hosts)
        if (from != host && hops[static_cast<std::size_t>(from)] < 0)
          return Problem{"no path from " + network.names[static_cast<std::size_t>(from)] + " to " +
                         network.names[static_cast<std::size_t>(host)]};
      routing.hops_.emplace_back();
      for (const std::int32_t hop : hops)
        routing.hops_.back().push_back(static_cast<std::int16_t>(std::min(hop, 32767)));
    }
    routing.table_of_[static_cast<std::size_t>(host)] = row;
    routing.shared_[static_cast<std::size_t>(host)] = shared;
  }
  if (network.routes.empty()) return routing;
  std::vector<std::int32_t> links;
  for (const Vertex from : hosts)
    for (const Vertex to : hosts) {
      links.clear();
      if (from == to) continue;
      routing.path(from, to, links);
      if (links.empty() || network.links[static_cast<std::size_t>(links.back())].to != to)
        return Problem{
            "the routes from " + network.names[static_cast<std::size_t>(from)] + " to " +
            network.names[static_cast<std::size_t>(to)] +
            (links.size() > static_cast<std::size_t>(network.switches()) ? " go round in circles" : " end nowhere")};
    }
  return routing;
}

std::int32_t Routing::next(Vertex at, Vertex from, Vertex to, std::uint32_t& digits) const {
  const Network& network = *network_;
  if (const std::int32_t given = network.find_route(at, to); given >= 0) return given;
  const auto to_index = static_cast<std::size_t>(to);
  const auto& hops = hops_[static_cast<std::size_t>(table_of_[to_index])];
  const auto wanted = hops[static_cast<std::size_t>(at)] - 1;
  if (shared_[to_index] && wanted < 0) return network.find_link(at, to);
  const auto nearer = [&](const Link& link) {
    return hops[static_cast<std::size_t>(link.to)] == wanted && (!network.is_host(link.to) || link.to == to);
  };
  const auto links = network.links_of(at);
  std::uint32_t ways = 0;
  std::int32_t chosen = -1;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!nearer(links[i])) continue;
    if (chosen < 0) chosen = static_cast<std::int32_t>(i);
    if (spread_ == Spread::first) break;
    ways += static_cast<std::uint32_t>(links[i].capacity);
  }
  if (chosen < 0) return -1;
  if (ways > 1) {
    std::uint32_t way = digits % ways;
    digits /= ways;
    if (spread_ == Spread::hash) {
      const auto pair = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
      way =
          static_cast<std::uint32_t>(mixed(mixed(pair + seed_ * golden_gamma) + static_cast<std::uint64_t>(at)) % ways);
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (!nearer(links[i])) continue;
      chosen = static_cast<std::int32_t>(i);
      if (way < static_cast<std::uint32_t>(links[i].capacity)) break;
      way -= static_cast<std::uint32_t>(links[i].capacity);
    }
  }
  return network.first_link[static_cast<std::size_t>(at)] + chosen;
}

void Routing::path(Vertex from, Vertex to, std::vector<std::int32_t>& links) const {
  if (from == to) return;
  const std::size_t limit = links.size() + static_cast<std::size_t>(network_->switches()) + 1;
  auto digits = static_cast<std::uint32_t>(to);
  for (Vertex at = from; at != to && links.size() <= limit;) {
    const std::int32_t link = next(at, from, to, digits);
    if (link < 0) return;
    links.push_back(link);
    at = network_->links[static_cast<std::size_t>(link)].to;
  }
}

}  // namespace swapmeet
