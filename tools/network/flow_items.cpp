#include "network/flow_items.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace swapmeet {

Flows flows_of(const Routing& routing, const Placement& placement, Random& draw) {
  std::vector<Sender> senders;
  for (std::size_t rank = 0; rank < placement.size(); ++rank) senders.push_back({static_cast<Rank>(rank)});
  return flows_of(routing, placement, senders, draw);
}

Flows flows_of(const Routing& routing, const Placement& placement, std::span<const Sender> senders, Random& draw) {
  const Network& network = routing.network();
  const auto p = static_cast<Rank>(placement.size());
  Resources all(network, p);
  std::vector<std::int32_t> ranks_of(static_cast<std::size_t>(network.hosts));
  for (const Vertex host : placement) ++ranks_of[static_cast<std::size_t>(host)];

  Flows flows;
  Items& items = flows.items;
  std::vector<std::int32_t> path;
  std::vector<std::int64_t> load(all.capacity.size());
  items.first.reserve(senders.size() * placement.size() + 1);
  for (const Sender& sender : senders) {
    all.capacity[static_cast<std::size_t>(all.sending(sender.front()))] = static_cast<std::int32_t>(sender.size());
    for (Rank to = 0; to < p; ++to) {
      const Rank from = sender.front() == to ? sender.back() : sender.front();
      if (from == to) continue;
      items.resources.push_back(all.sending(sender.front()));
      items.resources.push_back(all.receiving(to));
      path.clear();
      routing.path(placement[static_cast<std::size_t>(from)], placement[static_cast<std::size_t>(to)], path);
      for (const std::int32_t number : path) {
        const Link& link = network.links[static_cast<std::size_t>(number)];
        const Vertex host = network.is_host(link.from) ? link.from : network.is_host(link.to) ? link.to : -1;
        if (host >= 0 && ranks_of[static_cast<std::size_t>(host)] == 1) continue;  // its one rank is the stricter limit
        items.resources.push_back(all.link(number));
      }
      for (std::size_t i = items.first.back(); i < items.resources.size(); ++i)
        ++load[static_cast<std::size_t>(items.resources[i])];
      items.first.push_back(static_cast<std::uint32_t>(items.resources.size()));
    }
  }

  // Leave out resources that all their messages fit into at a time, and renumber the others.
  std::vector<std::int32_t> renumbered(load.size(), -1);
  for (std::size_t r = 0; r < load.size(); ++r) {
    if (load[r] <= all.capacity[r]) continue;
    renumbered[r] = static_cast<std::int32_t>(items.capacity.size());
    items.capacity.push_back(all.capacity[r]);
  }
  std::vector<std::int64_t> pressure(items.count());
  std::size_t kept = 0;
  for (std::size_t i = 0, begin = 0; i < items.count(); ++i) {
    const std::size_t end = items.first[i + 1];
    for (; begin < end; ++begin) {
      const auto r = static_cast<std::size_t>(items.resources[begin]);
      if (renumbered[r] < 0) continue;
      pressure[i] += load[r] / all.capacity[r];
      items.resources[kept++] = renumbered[r];
    }
    items.first[i + 1] = static_cast<std::uint32_t>(kept);
  }
  items.resources.resize(kept);
  flows.order.resize(items.count());
  std::iota(flows.order.begin(), flows.order.end(), 0);
  for (std::size_t i = items.count(); i > 1; --i)
    std::swap(flows.order[i - 1], flows.order[draw.nearly_below(static_cast<std::uint32_t>(i))]);
  std::stable_sort(flows.order.begin(), flows.order.end(), [&](auto a, auto b) {
    return pressure[static_cast<std::size_t>(a)] > pressure[static_cast<std::size_t>(b)];
  });
  return flows;
}

Colours colours_of(const SlotTable& table) {
  Colours colours;
  std::ranges::copy_if(table.slot_of, std::back_inserter(colours), [](std::int32_t slot) { return slot >= 0; });
  return colours;
}

void set_slots(const Colours& colours, SlotTable& table) {
  const auto p = static_cast<std::size_t>(table.ranks);
  table.slots = colours_used(colours);
  table.slot_of.assign(p * p, -1);
  for (std::size_t from = 0, flow = 0; from < p; ++from)
    for (std::size_t to = 0; to < p; ++to)
      if (from != to) table.slot_of[from * p + to] = colours[flow++];
}

}  // namespace swapmeet
