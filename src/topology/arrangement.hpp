/// Ranks on a grid: the product of cyclic groups on which store-and-forward exchanges move blocks.
///
/// The grid may have more places than there are ranks: where groups (nodes) are of different size, each is filled up to
/// the largest. A place without a rank of its own is a *proxy*: another rank of the same group holds its slots and
/// forwards blocks for it. No block starts or ends at a proxy.
#pragma once

#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Arrangement {
  std::vector<std::int32_t> sizes;     ///< of the dimensions; the first runs fastest
  std::vector<Rank> rank_at;           ///< for each place, the rank that is there or holds it
  std::vector<std::int32_t> place_of;  ///< for each rank, its own place

  std::int32_t places() const { return static_cast<std::int32_t>(rank_at.size()); }
  /// place + sign·offset, in each dimension modulo its size. `offset` is counted as a place is.
  std::int32_t shifted(std::int32_t place, std::int32_t offset, std::int32_t sign) const {
    std::int32_t sum = 0, stride = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const std::int32_t size = sizes[d];
      const bool last = d + 1 == sizes.size();  // nothing beyond it: no division, which takes most of the time
      const std::int32_t along = (last ? place : place % size) + sign * (last ? offset : offset % size);
      sum += (along < 0 ? along + size : along >= size ? along - size : along) * stride;
      if (last) break;
      stride *= size;
      place /= size;
      offset /= size;
    }
    return sum;
  }

  /// shifted() for every offset: a list without divisions.
  std::vector<std::int32_t> all_shifted(std::int32_t place, std::int32_t sign) const;

  bool is_proxy(std::int32_t place) const {
    return place_of[static_cast<std::size_t>(rank_at[static_cast<std::size_t>(place)])] != place;
  }
};

/// How large a grid is, without laying it out.
struct Extent {
  std::vector<std::int32_t> sizes;    ///< of the dimensions
  std::int64_t places = 1, held = 1;  ///< places in all; the most that one rank holds (its own and proxies)
};

/// Of the grid of `dimensions`, however unequal its groups: places and held stop at 2^31. O(ranks · levels).
Extent extent(const Dimensions& dimensions, const Shape& shape);

/// The grid of `dimensions`. Requires unsuitable() of a spec with them to be empty.
Arrangement arrange(const Dimensions& dimensions, const Shape& shape);

/// `count` factors of `product`, as equal as can be, the largest first.
std::vector<std::int32_t> equal_factors(std::int32_t product, std::int32_t count);

/// The radices of dimension `dimension` of `size` places, one for each digit, least significant first: names replaced
/// by numbers, the last repeated until they cover the size, none larger than is of use.
Radices digits_of(const std::vector<Radices>& radices, std::size_t dimension, std::int32_t size);

struct Digit {
  std::size_t dimension;
  std::int32_t number;  ///< within the dimension, from 0
  std::int32_t weight;  ///< in places along the dimension
  std::int32_t radix;
};

/// The digits of all dimensions, in the order in which blocks travel by them.
std::vector<Digit> digits_along(const std::vector<Radices>& radices, const std::vector<std::int32_t>& sizes);

}  // namespace swapmeet
