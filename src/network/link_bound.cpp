#include "network/link_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace swapmeet {

namespace {

constexpr double tie = 1e-9;              ///< ways whose lengths differ by less are alike
constexpr std::int32_t most_passes = 300;  ///< over all pairs
constexpr double growth = 1;            ///< of the logarithm of the length of the busiest link, in the first pass
constexpr std::int32_t prefixes = 64;     ///< cuts between the first hosts and the others

/// Ranks that share all ways: those of the hosts of one switch, or of a host with several.
struct Origin {
  Vertex vertex;
  double ranks;
};

class Finding {
 public:
  Finding(const Network& network, const Placement& placement)
      : network_(network), ranks_(static_cast<std::size_t>(network.hosts)),
        at_(static_cast<std::size_t>(network.vertices())) {
    for (const Vertex host : placement) ++ranks_[static_cast<std::size_t>(host)];
    for (Vertex host = 0; host < network.hosts; ++host) {
      const auto links = network.links_of(host);
      if (ranks_[static_cast<std::size_t>(host)] == 0) continue;
      const std::int32_t capacity =
          std::accumulate(links.begin(), links.end(), 0, [](int sum, const Link& link) { return sum + link.capacity; });
      bound_.host_links = std::max(bound_.host_links, capacity);
      at_[static_cast<std::size_t>(links.size() == 1 ? links[0].to : host)] += ranks_[static_cast<std::size_t>(host)];
      hosts_ += 1;
    }
    for (Vertex vertex = 0; vertex < network.vertices(); ++vertex)
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
    improve(effort);
    return std::move(bound_);
  }

 private:
  Vertex last_host() const {
    Vertex last = network_.hosts;
    while (last > 0 && ranks_[static_cast<std::size_t>(last) - 1] == 0) --last;
    return last;
  }

  /// Where a host's messages enter the network.
  Vertex home(Vertex host) const {
    const auto links = network_.links_of(host);
    return links.size() == 1 ? links[0].to : host;
  }

  bool inner(const Link& link) const { return !network_.is_host(link.from) && !network_.is_host(link.to); }

  /// Between the switches of two hosts with ranks: 0, 1 or more.
  std::int32_t nearest() const {
    if (static_cast<std::int64_t>(origins_.size()) < hosts_) return 0;
    std::int32_t hops = 2;
    for (const Origin& origin : origins_) {
      if (network_.is_host(origin.vertex)) return 0;  // its switches may have other hosts
      for (const Link& link : network_.links_of(origin.vertex))
        if (inner(link) && at_[static_cast<std::size_t>(link.to)] > 0) hops = 1;
    }
    return hops;
  }

  /// The hosts for which `first` holds against the others: their switches with them, and switches without hosts where
  /// that cuts less.
  template <class First>
  void try_cut(First first) {
    std::vector<std::int8_t> side(at_.size(), 0);  // -1, 1; 0: not known
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
      side[static_cast<std::size_t>(host)] = of_place;  // with its switch, which a cut does not part from it
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
    bool free = false;  // a host with several links passes on what no link between switches carries
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

  /// Lengths that grow where the shortest ways meet.
  void improve(std::int64_t effort) {
    const std::size_t links = network_.links.size();
    const std::int64_t pass = static_cast<std::int64_t>(origins_.size() * (links + at_.size()));
    const auto passes = static_cast<std::int32_t>(std::min<std::int64_t>(most_passes, pass == 0 ? 0 : effort / pass));
    std::vector<double> length(links), load(links);
    for (std::size_t i = 0; i < links; ++i)
      if (inner(network_.links[i])) length[i] = 1.0 / network_.links[i].capacity;
    for (std::int32_t i = 0; i < passes; ++i) {
      std::ranges::fill(load, 0.0);
      double distances = 0, capacities = 0;
      for (const Origin& origin : origins_) distances += travel(origin, length, load);
      for (std::size_t at = 0; at < links; ++at) capacities += length[at] * network_.links[at].capacity;
      if (capacities == 0) return;
      if (distances / capacities > bound_.blocks) bound_.blocks = distances / capacities, bound_.cut.clear();
      double most = 0;
      for (std::size_t at = 0; at < links; ++at) most = std::max(most, load[at] /= network_.links[at].capacity);
      if (most == 0 || most <= bound_.blocks * (1 + tie)) return;  // no load is less: these ways have it
      for (std::size_t at = 0; at < links; ++at) length[at] *= std::exp(growth / std::sqrt(i + 1.0) * load[at] / most);
    }
  }

  /// Sends the blocks of `origin` by all shortest ways, in equal parts. Returns the sum of their distances.
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

  const Network& network_;
  std::vector<std::int64_t> ranks_;  ///< of each host
  std::vector<double> at_;           ///< ranks whose messages enter at a vertex
  std::vector<Origin> origins_;
  std::int64_t hosts_ = 0;  ///< with ranks
  double all_ = 0;
  LinkBound bound_;
  std::vector<double> distance_, ways_, carried_;
  std::vector<Vertex> done_, fixed_;
};

}  // namespace

LinkBound link_bound(const Network& network, const Placement& placement, std::int64_t effort) {
  return Finding(network, placement).find(effort);
}

}  // namespace swapmeet
