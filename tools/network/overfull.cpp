#include "network/order.hpp"

namespace swapmeet {

namespace {

/// Returns a resource in words.
std::string name_of(std::int32_t resource, const Resources& resources, const Network& network) {
  if (resource < resources.ranks) return "rank " + std::to_string(resource) + " sends";
  if (resource < 2 * resources.ranks) return "rank " + std::to_string(resource - resources.ranks) + " receives";
  const Link& link = network.links[static_cast<std::size_t>(resource - 2 * resources.ranks)];
  return "the link from " + network.names[static_cast<std::size_t>(link.from)] + " to " +
         network.names[static_cast<std::size_t>(link.to)] + " carries";
}

}  // namespace

std::string overfull(const Routing& routing, const Placement& placement, const SlotTable& slots) {
  const Network& network = routing.network();
  const Resources resources(network, slots.ranks);
  std::vector<std::vector<std::pair<Rank, Rank>>> messages(static_cast<std::size_t>(slots.slots));
  for (Rank from = 0; from < slots.ranks; ++from)
    for (Rank to = 0; to < slots.ranks; ++to)
      if (from != to) messages[static_cast<std::size_t>(slots.slot(from, to))].emplace_back(from, to);
  std::vector<std::int32_t> path, load(resources.capacity.size()), used;
  for (std::size_t slot = 0; slot < messages.size(); ++slot) {
    for (const auto& [from, to] : messages[slot]) {
      path.clear();
      routing.path(placement[static_cast<std::size_t>(from)], placement[static_cast<std::size_t>(to)], path);
      for (std::int32_t& link : path) link = resources.link(link);
      path.push_back(resources.sending(from));
      path.push_back(resources.receiving(to));
      for (const std::int32_t resource : path) {
        used.push_back(resource);
        const auto at = static_cast<std::size_t>(resource);
        if (++load[at] > resources.capacity[at])
          return name_of(resource, resources, network) + " more than " + std::to_string(resources.capacity[at]) +
                 " in slot " + std::to_string(slot);
      }
    }
    for (const std::int32_t resource : used) load[static_cast<std::size_t>(resource)] = 0;
    used.clear();
  }
  return "";
}

}  // namespace swapmeet
