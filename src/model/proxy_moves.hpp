/// The moves of blocks on grids with proxies.
///
/// Before digit x of dimension j, a block at place v has the coordinates of its destination in the dimensions before j,
/// and those of its source in the dimensions after j. Along j its distance from its source is given by the digits below
/// x. So the number of blocks that leave v with the offset o along j is a product of two numbers: the true sources with
/// the right coordinates from j on, and the true destinations with the right coordinates up to j.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/arrangement.hpp"

namespace swapmeet {

/// A dimension of the grid, with the numbers of true places (that is, not proxies) that its digits need.
struct ProxyAxis {
  std::int32_t size, stride;
  std::vector<std::int64_t> sources;  ///< true places by their coordinates from this dimension on: place / stride
  /// true places by their coordinates up to this dimension: place % (stride · size)
  std::vector<std::int64_t> destinations;
};

inline std::vector<ProxyAxis> proxy_axes(const Arrangement& grid) {
  std::vector<ProxyAxis> all;
  std::int32_t stride = 1;
  for (const std::int32_t size : grid.sizes) {
    ProxyAxis axis{size, stride, {}, {}};
    axis.sources.resize(static_cast<std::size_t>(grid.places() / stride));
    stride *= size;
    axis.destinations.resize(static_cast<std::size_t>(stride));
    for (const std::int32_t place : grid.place_of) {
      ++axis.sources[static_cast<std::size_t>(place / axis.stride)];
      ++axis.destinations[static_cast<std::size_t>(place % stride)];
    }
    all.push_back(std::move(axis));
  }
  return all;
}

/// Returns the number of blocks that leave `place` by the value z of this digit.
inline std::int64_t leaving(const ProxyAxis& axis, const Digit& digit, std::int32_t z, std::int32_t place) {
  const std::int32_t along = place / axis.stride % axis.size;
  const std::int32_t before = place % axis.stride, behind = place / axis.stride / axis.size * axis.size;
  const std::int64_t period = std::int64_t{digit.weight} * digit.radix;
  std::int64_t blocks = 0;
  for (std::int64_t base = std::int64_t{z} * digit.weight; base < axis.size; base += period)
    for (std::int32_t done = 0; done < digit.weight && base + done < axis.size; ++done) {
      const std::int32_t source = (along - done + axis.size) % axis.size;
      const auto destination = static_cast<std::int32_t>((along + base) % axis.size);
      blocks += axis.sources[static_cast<std::size_t>(behind + source)] *
                axis.destinations[static_cast<std::size_t>(before + destination * axis.stride)];
    }
  return blocks;
}

/// The blocks that move between two places by one value of a digit, in one message.
struct Moved {
  const Digit& digit;
  Rank from, to;  ///< ranks of the places, which may be the same
  std::int64_t messages, blocks;
};

/// Calls use(Moved) for all values of all digits, and begin(digit) before each digit.
void for_each_move(const Spec& spec, const Arrangement& grid, const std::vector<Digit>& digits, auto begin, auto use) {
  const std::vector<ProxyAxis> all_axes = proxy_axes(grid);
  for (const Digit& digit : digits) {
    const ProxyAxis& axis = all_axes[digit.dimension];
    const bool staggered = spec.grouping == Grouping::staggered && digit.dimension + 1 == grid.sizes.size();
    begin(digit);
    for (std::int32_t z = 1; z < digit.radix; ++z)
      for (std::int32_t place = 0; place < grid.places(); ++place) {
        const std::int64_t blocks = leaving(axis, digit, z, place);
        if (blocks == 0) continue;
        const std::int32_t along = place / axis.stride % axis.size;
        const std::int32_t move = (along + z * digit.weight) % axis.size - along;
        use(Moved{digit, grid.rank_at[static_cast<std::size_t>(place)],
                  grid.rank_at[static_cast<std::size_t>(place + move * axis.stride)], staggered ? blocks : 1, blocks});
      }
  }
}

}  // namespace swapmeet
