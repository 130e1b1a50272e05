#include "network/rings.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "network/colouring.hpp"

namespace swapmeet {

namespace {

constexpr std::int64_t moves_for_each_pair = 200;

Ring empty_ring(std::int32_t n, std::int32_t phases, std::int32_t parts) {
  return {n, phases, parts, std::vector<Turn>(static_cast<std::size_t>(n) * static_cast<std::size_t>(n))};
}

/// Returns the pairs of a ring as items that share places and, in each direction, links. A pair with two ways of equal
/// length uses one of them, by a parity that is not known here; so there is one set of links for each parity.
Items pairs_of(std::int32_t n) {
  Items items;
  items.capacity.assign(6 * static_cast<std::size_t>(n), 1);
  for (std::int32_t from = 0; from < n; ++from)
    for (std::int32_t to = 0; to < n; ++to) {
      items.resources.push_back(from);
      items.resources.push_back(n + to);
      const std::int32_t ahead = (to - from + n) % n;
      for (const std::int32_t parity : {0, 1}) {
        const bool up = 2 * ahead < n || (2 * ahead == n && (to + parity) % 2 == 0);
        for (std::int32_t hop = 0; hop < (up ? ahead : n - ahead); ++hop)
          items.resources.push_back((2 + 2 * parity + up) * n + (up ? from + hop : from - hop + n) % n);
      }
      items.first.push_back(static_cast<std::uint32_t>(items.resources.size()));
    }
  return items;
}

}  // namespace

/// Each of the places i, j, i + n/2 and j + n/2 sends one message along a circle, up or down; the four messages use all
/// links of that direction once. The circles of the edges {i, j} of the complete graph of n/2 vertices contain all
/// pairs of places whose distance is no multiple of n/2, once up and once down. That graph is a union of matchings (a
/// tournament in which each team plays each round) with n/4 edges each. Half of a matching's circles go up and half of
/// them down; in the next phase they go the other way.
Ring matched_ring(std::int32_t n) {
  const std::int32_t half = n / 2, edges = half / 2;
  Ring ring = empty_ring(n, n, (edges + 1) / 2);
  const auto circle = [&](std::int32_t i, std::int32_t j, bool up, Turn turn) {
    const std::array<std::int32_t, 4> places{std::min(i, j), std::max(i, j), std::min(i, j) + half,
                                             std::max(i, j) + half};
    for (std::size_t k = 0; k < 4; ++k) ring.turn(places[k], places[(k + (up ? 1 : 3)) % 4]) = turn;
  };
  for (std::int32_t round = 0; round + 1 < half; ++round)
    for (std::int32_t edge = 0; edge < edges; ++edge) {
      const std::int32_t i = edge == 0 ? half - 1 : (round + edge) % (half - 1),
                         j = (round - edge + half - 1) % (half - 1);
      circle(i, j, edge % 2 == 0, {2 * round, edge / 2});
      circle(i, j, edge % 2 != 0, {2 * round + 1, edge / 2});
    }
  // The last two phases: half the places send half round, as many up as down, while the others send nothing.
  for (std::int32_t place = 0; place < n; ++place) {
    const std::int32_t couple = place % half / 2, last = 2 * (half - 1);
    ring.turn(place, (place + half) % n) = {last + couple % 2, couple / 2};
    ring.turn(place, place) = {last + 1 - couple % 2, 0};
  }
  return ring;
}

Ring coloured_ring(std::int32_t n) {
  const Items items = pairs_of(n);
  std::vector<std::int32_t> order(items.count()), load(items.capacity.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::int32_t item) { return items.of(static_cast<std::size_t>(item)).size(); });
  for (const std::int32_t resource : items.resources) ++load[static_cast<std::size_t>(resource)];
  Random draw(0);
  const std::int64_t moves = moves_for_each_pair * static_cast<std::int64_t>(items.count());
  const Colours colours = improved(items, greedy_colours(items, order), std::ranges::max(load), draw,
                                   [&](std::int64_t done) { return done < moves; });
  Ring ring = empty_ring(n, colours_used(colours), 1);
  for (std::size_t pair = 0; pair < colours.size(); ++pair) ring.turns[pair].phase = colours[pair];
  return ring;
}

}  // namespace swapmeet
