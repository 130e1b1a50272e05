#include "network/link_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "schedule/elementary.hpp"

namespace swapmeet {

namespace {

constexpr double tie = 1e-9;               ///< paths whose lengths differ by less count as equal
constexpr std::int32_t most_passes = 300;  ///< maximum number of passes over all pairs
constexpr double growth = 1;  ///< increase of the logarithm of the length of the busiest link in the first pass
constexpr std::int64_t most_relaying = 512;  ///< maximum number of hosts for which all routes are considered
constexpr std::int64_t relay_effort = 16;    ///< paths over a third host that are visited in the time of one link
constexpr std::int32_t directly = -1;        ///< marks a path that is not over a third host
constexpr std::int32_t prefixes = 64;        ///< number of cuts between the first hosts and the others

/// An origin of paths: the ranks of the hosts of one switch, or of a host with several links, which share all paths.
struct Origin {
  Vertex vertex;
  double ranks;
};

class Finding {
 public:
  Finding(const Routing& routing, const Placement& placement)
      : routing_(routing), network_(routing.network()), ranks_(static_cast<std::size_t>(network_.hosts)),
        at_(static_cast<std::size_t>(network_.vertices())) {
    for (const Vertex host : placement) ++ranks_[static_cast<std::size_t>(host)];
    for (Vertex host = 0; host < network_.hosts; ++host) {
      const auto links = network_.links_of(host);
      if (ranks_[static_cast<std::size_t>(host)] == 0) continue;
      const std::int32_t capacity =
          std::accumulate(links.begin(), links.end(), 0, [](int sum, const Link& link) { return sum + link.capacity; });
      bound_.host_links = std::max(bound_.host_links, capacity);
      at_[static_cast<std::size_t>(links.size() == 1 ? links[0].to : host)] += ranks_[static_cast<std::size_t>(host)];
      hosts_.push_back(host);
    }
    for (Vertex vertex = 0; vertex < network_.vertices(); ++vertex)
      if (at_[static_cast<std::size_t>(vertex)] > 0)
        origins_.push_back({vertex, at_[static_cast<std::size_t>(vertex)]});
    all_ = static_cast<double>(placement.size());
  }

  LinkBound find(std::int64_t effort) {
    bound_.nearest_hops = nearest();
    for (const Origin& origin : origins_) try_cut([&](Vertex host) { return home(host) == origin.vertex; });
    for (std::int32_t i = 1; i < prefixes && origins_.size() > 1; ++i) {
      const auto first = static_cast<Vertex>(static_cast<std::int64_t>(i) * last_host() / prefixes);
      try_cut([&](Vertex host) { return host < first; });
    }
    improve(
        effort,
        [&](const auto& length, auto& load) {
          double distances = 0;
          for (const Origin& origin : origins_) distances += travel(origin, length, load);
          return distances;
        },
        static_cast<std::int64_t>(origins_.size() * (network_.links.size() + at_.size())));
    const auto hosts = static_cast<std::int64_t>(hosts_.size());
    if (hosts <= most_relaying) {
      find_routes();
      improve(
          effort * relay_effort, [&](const auto& length, auto& load) { return relay(length, load); },
          hosts * hosts * hosts);
    }
    return std::move(bound_);
  }

 private:
  Vertex last_host() const {
    Vertex last = network_.hosts;
    while (last > 0 && ranks_[static_cast<std::size_t>(last) - 1] == 0) --last;
    return last;
  }

  /// Returns the vertex at which a host's messages enter the network.
  Vertex home(Vertex host) const {
    const auto links = network_.links_of(host);
    return links.size() == 1 ? links[0].to : host;
  }

  bool inner(const Link& link) const { return !network_.is_host(link.from) && !network_.is_host(link.to); }

  /// Returns a lower bound on the links between the switches of two hosts with ranks: 0, 1 or 2.
  std::int32_t nearest() const {
    if (origins_.size() < hosts_.size()) return 0;
    std::int32_t hops = 2;
    for (const Origin& origin : origins_) {
      if (network_.is_host(origin.vertex)) return 0;  // its switches may have other hosts
      for (const Link& link : network_.links_of(origin.vertex))
        if (inner(link) && at_[static_cast<std::size_t>(link.to)] > 0) hops = 1;
    }
    return hops;
  }

  /// Tries the cut between the hosts for which `first` holds and the others. A switch with hosts is on the side of its
  /// first host, with all its hosts; the other switches are placed so that the cut gets small.
  template <class First>
  void try_cut(First first) {
    std::vector<std::int8_t> side(at_.size(), 0);  // -1, 1; 0: unknown
    double here = 0;
    for (Vertex host = 0; host < network_.hosts; ++host) {
      const std::int8_t of = first(host) ? 1 : -1;
      const Vertex place = home(host);
      std::int8_t& of_place = side[static_cast<std::size_t>(place)];
      if (network_.is_host(place)) {
        of_place = of;
      } else if (of_place == 0) {
        of_place = of;
      }
      // on the side of its switch, from which a cut does not separate it
      side[static_cast<std::size_t>(host)] = of_place;
      if (of_place > 0) here += ranks_[static_cast<std::size_t>(host)];
    }
    for (int pass = 0; pass < 3; ++pass)
      for (Vertex vertex = network_.hosts; vertex < network_.vertices(); ++vertex) {
        if (pass == 0 && side[static_cast<std::size_t>(vertex)] != 0) fixed_.push_back(vertex);
        if (std::ranges::binary_search(fixed_, vertex)) continue;
        std::int64_t sum = 0;
        for (const Link& link : network_.links_of(vertex))
          sum += std::int64_t{link.capacity} * side[static_cast<std::size_t>(link.to)];
        side[static_cast<std::size_t>(vertex)] = sum > 0 ? 1 : -1;
      }
    fixed_.clear();
    double out = 0, in = 0;
    bool free = false;  // a host with several links can forward blocks past the links between switches
    for (const Link& link : network_.links) {
      const int from = side[static_cast<std::size_t>(link.from)], to = side[static_cast<std::size_t>(link.to)];
      if (from == to) continue;
      free = free || !inner(link);
      (from > 0 ? out : in) += link.capacity;
    }
    const double capacity = std::min(out, in);
    if (free || capacity == 0 || here == 0 || here == all_) return;
    if (const double blocks = here * (all_ - here) / capacity; blocks > bound_.blocks) {
      bound_.blocks = blocks;
      bound_.cut.clear();
      for (Vertex host = 0; host < network_.hosts; ++host)
        if (ranks_[static_cast<std::size_t>(host)] > 0 && side[static_cast<std::size_t>(host)] > 0)
          bound_.cut.push_back(host);
    }
  }

  /// Improves the lengths: they grow on links that shortest paths share. `send` adds all blocks to the loads and
  /// returns the sum of their distances; it visits `looks` links or pairs.
  template <class Send>
  void improve(std::int64_t effort, Send send, std::int64_t looks) {
    const std::size_t links = network_.links.size();
    const auto passes =
        static_cast<std::int32_t>(std::min<std::int64_t>(most_passes, effort / std::max<std::int64_t>(1, looks)));
    std::vector<double> length(links), load(links);
    for (std::size_t i = 0; i < links; ++i)
      if (inner(network_.links[i])) length[i] = 1.0 / network_.links[i].capacity;
    for (std::int32_t i = 0; i < passes; ++i) {
      std::ranges::fill(load, 0.0);
      double capacities = 0;
      const double distances = send(length, load);
      for (std::size_t at = 0; at < links; ++at) capacities += length[at] * network_.links[at].capacity;
      if (capacities == 0) return;
      if (distances / capacities > bound_.blocks) bound_.blocks = distances / capacities, bound_.cut.clear();
      double most = 0;
      for (std::size_t at = 0; at < links; ++at) most = std::max(most, load[at] /= network_.links[at].capacity);
      if (most == 0 || most <= bound_.blocks * (1 + tie)) return;  // these paths attain the bound
      for (std::size_t at = 0; at < links; ++at)
        length[at] *= elementary::exp(growth / std::sqrt(i + 1.0) * load[at] / most);
    }
  }

  void find_routes() {
    std::vector<std::int32_t> path;
    route_.push_back(0);
    for (const Vertex from : hosts_)
      for (const Vertex to : hosts_) {
        path.clear();
        if (from != to) routing_.path(from, to, path);
        for (const std::int32_t link : path)
          if (inner(network_.links[static_cast<std::size_t>(link)])) routes_.push_back(link);
        route_.push_back(routes_.size());
      }
  }

  /// Sends all blocks by the shortest paths over routes and forwarding hosts. Returns the sum of their distances.
  double relay(const std::vector<double>& length, std::vector<double>& load) {
    const std::size_t n = hosts_.size();
    distance_.assign(n * n, 0);
    over_.assign(n * n, directly);
    for (std::size_t pair = 0; pair < n * n; ++pair)
      for (std::size_t i = route_[pair]; i < route_[pair + 1]; ++i)
        distance_[pair] += length[static_cast<std::size_t>(routes_[i])];
    for (std::size_t over = 0; over < n; ++over)
      for (std::size_t from = 0; from < n; ++from) {
        if (from == over) continue;
        const double first = distance_[from * n + over];
        for (std::size_t to = 0; to < n; ++to) {
          const double there = first + distance_[over * n + to];
          if (to == over || there >= distance_[from * n + to] * (1 - tie)) continue;
          distance_[from * n + to] = there, over_[from * n + to] = static_cast<std::int32_t>(over);
        }
      }
    double sum = 0;
    for (std::size_t from = 0; from < n; ++from)
      for (std::size_t to = 0; to < n; ++to) {
        const auto blocks = static_cast<double>(ranks_[static_cast<std::size_t>(hosts_[from])] *
                                                ranks_[static_cast<std::size_t>(hosts_[to])]);
        if (from == to) continue;
        sum += blocks * distance_[from * n + to];
        carry(from, to, blocks, load);
      }
    return sum * (1 - tie);  // paths that are shorter by less than this were ignored
  }

  void carry(std::size_t from, std::size_t to, double blocks, std::vector<double>& load) const {
    const std::size_t pair = from * hosts_.size() + to;
    if (const std::int32_t over = over_[pair]; over != directly) {
      carry(from, static_cast<std::size_t>(over), blocks, load);
      carry(static_cast<std::size_t>(over), to, blocks, load);
      return;
    }
    for (std::size_t i = route_[pair]; i < route_[pair + 1]; ++i) load[static_cast<std::size_t>(routes_[i])] += blocks;
  }

  /// Sends the blocks of `origin` by all shortest paths, in equal parts. Returns the sum of their distances.
  double travel(const Origin& origin, const std::vector<double>& length, std::vector<double>& load) {
    const std::size_t vertices = at_.size();
    distance_.assign(vertices, -1);
    ways_.assign(vertices, 0);
    done_.clear();
    using Entry = std::pair<double, Vertex>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    std::vector<bool> settled(vertices);
    distance_[static_cast<std::size_t>(origin.vertex)] = 0;
    ways_[static_cast<std::size_t>(origin.vertex)] = 1;
    next.emplace(0, origin.vertex);
    while (!next.empty()) {
      const auto [far, vertex] = next.top();
      next.pop();
      if (settled[static_cast<std::size_t>(vertex)]) continue;
      settled[static_cast<std::size_t>(vertex)] = true;
      done_.push_back(vertex);
      for (std::int32_t i = network_.first_link[static_cast<std::size_t>(vertex)];
           i < network_.first_link[static_cast<std::size_t>(vertex) + 1]; ++i) {
        const Vertex to = network_.links[static_cast<std::size_t>(i)].to;
        if (network_.is_host(to) && network_.links_of(to).size() == 1) continue;
        if (settled[static_cast<std::size_t>(to)]) continue;
        const double there = far + length[static_cast<std::size_t>(i)];
        double& known = distance_[static_cast<std::size_t>(to)];
        const double ways = ways_[static_cast<std::size_t>(vertex)];
        if (known < 0 || there < known * (1 - tie)) {
          known = there, ways_[static_cast<std::size_t>(to)] = ways;
          next.emplace(there, to);
        } else if (there <= known * (1 + tie)) {
          ways_[static_cast<std::size_t>(to)] += ways;
        }
      }
    }
    double sum = 0;
    carried_.assign(vertices, 0);
    for (std::size_t i = done_.size(); i-- > 0;) {
      const Vertex vertex = done_[i];
      const auto at = static_cast<std::size_t>(vertex);
      if (vertex != origin.vertex) {
        const double blocks = origin.ranks * at_[at];
        sum += blocks * distance_[at], carried_[at] += blocks;
      }
      if (carried_[at] == 0) continue;
      for (const std::int32_t link : network_.links_to(vertex)) {
        const auto from = static_cast<std::size_t>(network_.links[static_cast<std::size_t>(link)].from);
        if (distance_[from] < 0) continue;
        const double there = distance_[from] + length[static_cast<std::size_t>(link)];
        if (there > distance_[at] * (1 + tie) || distance_[from] >= distance_[at]) continue;
        const double part = carried_[at] * ways_[from] / ways_[at];
        carried_[from] += part;
        if (length[static_cast<std::size_t>(link)] > 0) load[static_cast<std::size_t>(link)] += part;
      }
    }
    return sum;
  }

  const Routing& routing_;
  const Network& network_;
  std::vector<std::int64_t> ranks_;  ///< number of ranks on each host
  std::vector<double> at_;           ///< number of ranks whose messages enter at each vertex
  std::vector<Origin> origins_;
  std::vector<Vertex> hosts_;  ///< hosts with ranks
  double all_ = 0;
  LinkBound bound_;
  std::vector<double> distance_, ways_, carried_;
  std::vector<Vertex> done_, fixed_;
  std::vector<std::size_t> route_;    ///< for each pair of hosts with ranks: start of its links in `routes_`
  std::vector<std::int32_t> routes_;  ///< links between switches
  std::vector<std::int32_t> over_;    ///< for each pair: host that forwards its blocks, or `directly`
};

}  // namespace

LinkBound link_bound(const Routing& routing, const Placement& placement, std::int64_t effort) {
  return Finding(routing, placement).find(effort);
}

}  // namespace swapmeet
