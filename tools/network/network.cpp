#include "network/network.hpp"

#include <algorithm>
#include <numeric>

namespace swapmeet {

std::span<const Link> Network::links_of(Vertex vertex) const {
  const auto at = static_cast<std::size_t>(vertex);
  return std::span(links).subspan(static_cast<std::size_t>(first_link[at]),
                                  static_cast<std::size_t>(first_link[at + 1] - first_link[at]));
}

std::span<const std::int32_t> Network::links_to(Vertex vertex) const {
  const auto at = static_cast<std::size_t>(vertex);
  return std::span(links_in).subspan(static_cast<std::size_t>(first_in[at]),
                                     static_cast<std::size_t>(first_in[at + 1] - first_in[at]));
}

std::int32_t Network::find_link(Vertex from, Vertex to) const {
  const auto out = links_of(from);
  const auto at = std::lower_bound(out.begin(), out.end(), to, [](const Link& link, Vertex v) { return link.to < v; });
  if (at == out.end() || at->to != to) return -1;
  return first_link[static_cast<std::size_t>(from)] + static_cast<std::int32_t>(at - out.begin());
}

bool Network::has_one_link(Vertex host) const {
  const auto in = links_to(host);
  const auto out = links_of(host);
  return in.size() == 1 && out.size() == 1 && out[0].capacity == 1 &&
         links[static_cast<std::size_t>(in[0])].capacity == 1;
}

std::int32_t Network::find_route(Vertex at, Vertex host) const {
  if (routes.empty()) return -1;
  const auto begin = routes.begin() + first_route[static_cast<std::size_t>(at)],
             end = routes.begin() + first_route[static_cast<std::size_t>(at) + 1];
  // applies if routes to all hosts are given
  if (host < end - begin && begin[host].host == host) return begin[host].link;
  const auto given = std::lower_bound(begin, end, host, [](const Route& route, Vertex h) { return route.host < h; });
  return given != end && given->host == host ? given->link : -1;
}

std::optional<Vertex> NetworkBuilder::find(const std::string& name) const {
  const auto at = number_.find(name);
  return at == number_.end() ? std::nullopt : std::optional(at->second);
}

Vertex NetworkBuilder::add(const std::string& name, bool host) {
  const auto [at, fresh] = number_.try_emplace(name, static_cast<Vertex>(names_.size()));
  if (fresh) {
    names_.push_back(name);
    host_.push_back(host);
  }
  return at->second;
}

bool NetworkBuilder::arc(Vertex from, Vertex to, std::int32_t capacity) {
  const auto [at, fresh] = capacity_.try_emplace(key(from, to), 0);
  at->second = std::min(at->second + capacity, most_capacity);
  return fresh;
}

Network NetworkBuilder::finish() && {
  Network network;
  std::vector<Vertex> renumbered(names_.size());
  for (const bool host : {true, false}) {
    for (std::size_t v = 0; v < names_.size(); ++v) {
      if (host_[v] != host) continue;
      renumbered[v] = network.vertices();
      network.names.push_back(std::move(names_[v]));
    }
    if (host) network.hosts = network.vertices();
  }
  const auto number = [&](Vertex v) { return renumbered[static_cast<std::size_t>(v)]; };
  for (const auto& [key, capacity] : capacity_)
    network.links.push_back(
        {number(static_cast<Vertex>(key >> 32)), number(static_cast<Vertex>(key & UINT32_MAX)), capacity});
  std::sort(network.links.begin(), network.links.end(),
            [](const Link& a, const Link& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });

  const auto vertices = static_cast<std::size_t>(network.vertices());
  network.first_link.assign(vertices + 1, 0);
  network.first_in.assign(vertices + 1, 0);
  for (const Link& link : network.links) {
    ++network.first_link[static_cast<std::size_t>(link.from) + 1];
    ++network.first_in[static_cast<std::size_t>(link.to) + 1];
  }
  std::partial_sum(network.first_link.begin(), network.first_link.end(), network.first_link.begin());
  std::partial_sum(network.first_in.begin(), network.first_in.end(), network.first_in.begin());
  network.links_in.resize(network.links.size());
  std::vector<std::int32_t> next(network.first_in.begin(), network.first_in.end() - 1);
  for (std::size_t i = 0; i < network.links.size(); ++i)
    network.links_in[static_cast<std::size_t>(next[static_cast<std::size_t>(network.links[i].to)]++)] =
        static_cast<std::int32_t>(i);

  for (const Route& route : routes_)
    network.routes.push_back(
        {number(route.at), number(route.host), network.find_link(number(route.at), number(route.link))});
  std::sort(network.routes.begin(), network.routes.end(),
            [](const Route& a, const Route& b) { return std::pair(a.at, a.host) < std::pair(b.at, b.host); });
  if (!network.routes.empty()) {
    network.first_route.assign(vertices + 1, 0);
    for (const Route& route : network.routes) ++network.first_route[static_cast<std::size_t>(route.at) + 1];
    std::partial_sum(network.first_route.begin(), network.first_route.end(), network.first_route.begin());
  }
  return network;
}

std::vector<std::int32_t> hops_to(const Network& network, Vertex to) {
  std::vector<std::int32_t> hops(static_cast<std::size_t>(network.vertices()), -1);
  std::vector<Vertex> reached{to};
  hops[static_cast<std::size_t>(to)] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Vertex at = reached[i];
    if (network.is_host(at) && at != to) continue;
    for (const std::int32_t link : network.links_to(at)) {
      const Vertex from = network.links[static_cast<std::size_t>(link)].from;
      if (hops[static_cast<std::size_t>(from)] >= 0) continue;
      hops[static_cast<std::size_t>(from)] = hops[static_cast<std::size_t>(at)] + 1;
      reached.push_back(from);
    }
  }
  return hops;
}

std::optional<std::pair<Vertex, Vertex>> unreachable(const Network& network) {
  // If a vertex reaches one host of a switch, it reaches all hosts of that switch.
  std::vector<bool> seen(static_cast<std::size_t>(network.vertices()));
  for (Vertex host = 0; host < network.hosts; ++host) {
    const auto in = network.links_to(host);
    if (in.size() == 1) {
      const auto at = static_cast<std::size_t>(network.links[static_cast<std::size_t>(in.front())].from);
      if (seen[at]) continue;
      seen[at] = true;
    }
    const std::vector<std::int32_t> hops = hops_to(network, host);
    for (Vertex from = 0; from < network.hosts; ++from)
      if (hops[static_cast<std::size_t>(from)] < 0) return std::pair(from, host);
  }
  return std::nullopt;
}

std::int32_t diameter(const Network& network) {
  std::vector<bool> has_host(static_cast<std::size_t>(network.vertices()));
  for (const Link& link : network.links)
    if (network.is_host(link.to)) has_host[static_cast<std::size_t>(link.from)] = true;
  std::int32_t most = 0;
  for (Vertex to = network.hosts; to < network.vertices(); ++to) {
    if (!has_host[static_cast<std::size_t>(to)]) continue;
    const std::vector<std::int32_t> hops = hops_to(network, to);
    for (Vertex from = network.hosts; from < network.vertices(); ++from)
      if (has_host[static_cast<std::size_t>(from)]) most = std::max(most, hops[static_cast<std::size_t>(from)]);
  }
  return most;
}

}  // namespace swapmeet
