#include "network/torus_slots.hpp"

#include <algorithm>
#include <numeric>

#include "network/order.hpp"
#include "network/rings.hpp"

namespace swapmeet {

namespace {

constexpr std::int32_t longest_ring = 1024,
                       longest_coloured = 16;  ///< limits on places, since all pairs of them are stored, and coloured

std::vector<Ring> rings_of(std::int32_t n) {
  std::vector<Ring> rings;
  if (n % 4 == 0 && n <= longest_ring) rings.push_back(matched_ring(n));
  if (n % 8 != 0 && n <= longest_coloured) rings.push_back(coloured_ring(n));
  return rings;
}

/// One ring for each dimension, and the number of their slots.
struct Product {
  std::vector<const Ring*> rings;
  std::int32_t parts = 1;
  std::int64_t slots = 0;

  /// Returns the slot of a pair of places, which are numbered along the first dimension first.
  std::int64_t slot(std::int32_t from, std::int32_t to) const {
    std::int64_t phase = 0;
    std::int32_t part = 0;
    for (const Ring* const ring : rings) {
      const Turn turn = ring->turn(from % ring->places, to % ring->places);
      phase = phase * ring->phases + turn.phase;
      part += turn.part;
      from /= ring->places, to /= ring->places;
    }
    return phase * parts + part % parts;
  }
};

/// Returns the choice of rings, one for each dimension, with the fewest slots; nullopt if a dimension has no ring.
std::optional<Product> shortest(const std::vector<std::vector<Ring>>& dimensions) {
  std::int32_t most_parts = 1;
  for (const auto& rings : dimensions)
    for (const Ring& ring : rings) most_parts = std::max(most_parts, ring.parts);
  std::optional<Product> best;
  for (std::int32_t parts = 1; parts <= most_parts; ++parts) {
    Product product{{}, parts, parts};
    for (const auto& rings : dimensions) {
      const Ring* fewest = nullptr;
      for (const Ring& ring : rings)
        if (ring.parts <= parts && (fewest == nullptr || ring.phases < fewest->phases)) fewest = &ring;
      if (fewest == nullptr) break;
      product.rings.push_back(fewest);
      product.slots = std::min<std::int64_t>(product.slots * fewest->phases, INT32_MAX);
    }
    if (product.rings.size() == dimensions.size() && (!best || product.slots < best->slots)) best = product;
  }
  return best;
}

/// The position of a rank.
struct Position {
  std::int32_t place = 0, number = 0;  ///< place on the torus, and number among the ranks there
};

/// Returns the positions of all ranks; nullopt if a host has several links.
std::optional<std::vector<Position>> positions_of(const Network& network, const Placement& placement) {
  std::vector<std::int32_t> taken(static_cast<std::size_t>(network.switches()));
  std::vector<Position> positions;
  for (const Vertex host : placement) {
    const auto links = network.links_of(host);
    if (links.size() != 1) return std::nullopt;
    const std::int32_t place = links[0].to - network.hosts;
    positions.push_back({place, taken[static_cast<std::size_t>(place)]++});
  }
  return positions;
}

/// Renumbers the slots without the empty ones.
void close_up(SlotTable& table, std::int64_t all) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(all) + 1);
  for (const std::int32_t slot : table.slot_of)
    if (slot >= 0) number[static_cast<std::size_t>(slot) + 1] = 1;
  std::partial_sum(number.begin(), number.end(), number.begin());
  for (std::int32_t& slot : table.slot_of)
    if (slot >= 0) slot = number[static_cast<std::size_t>(slot)];
  table.slots = number.back();
}

}  // namespace

std::vector<std::int32_t> torus_sizes(const Network& network) {
  std::vector<std::int32_t> sizes;
  std::int32_t stride = 1;
  const auto linked = [&](std::int32_t from, std::int32_t to) {
    return to < network.switches() && network.find_link(network.hosts + from, network.hosts + to) >= 0;
  };
  while (stride < network.switches()) {
    std::int32_t size = 1;
    while (linked((size - 1) * stride, size * stride)) ++size;
    if (size == 1) return {};
    sizes.push_back(size);
    stride *= size;
  }
  if (stride != network.switches()) return {};
  return sizes;
}

std::optional<SlotTable> torus_slots(const Routing& routing, const Placement& placement) {
  const std::vector<std::int32_t> sizes = torus_sizes(routing.network());
  if (sizes.empty()) return std::nullopt;
  const auto positions = positions_of(routing.network(), placement);
  if (!positions) return std::nullopt;
  std::vector<std::vector<Ring>> dimensions;
  for (const std::int32_t size : sizes) {
    const auto same = std::ranges::find(sizes, size) - sizes.begin();
    if (static_cast<std::size_t>(same) < dimensions.size())
      dimensions.push_back(dimensions[static_cast<std::size_t>(same)]);
    else dimensions.push_back(rings_of(size));
  }
  const std::optional<Product> product = shortest(dimensions);
  if (!product) return std::nullopt;
  const std::int64_t most = 1 + std::ranges::max(*positions, {}, &Position::number).number,
                     all = most * most * product->slots;
  const auto ranks = static_cast<std::int64_t>(placement.size());
  if (all > std::max(ranks * ranks, product->slots)) return std::nullopt;  // more slots than messages
  SlotTable table;
  table.ranks = static_cast<Rank>(ranks);
  table.slot_of.reserve(placement.size() * placement.size());
  for (const Position& from : *positions)
    for (const Position& to : *positions)
      table.slot_of.push_back(&from == &to
                                  ? -1
                                  : static_cast<std::int32_t>((from.number * most + to.number) * product->slots +
                                                              product->slot(from.place, to.place)));
  close_up(table, all);
  if (!overfull(routing, placement, table).empty()) return std::nullopt;
  return table;
}

}  // namespace swapmeet
