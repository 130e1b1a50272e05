/// Ranks on a grid: the product of cyclic groups on which store-and-forward exchanges move blocks.
///
/// The grid may have more places than there are ranks: where groups (nodes) are of different size, each is filled up to
/// the largest. A place without a rank of its own is a *proxy*: another rank of the same group holds its slots and
/// forwards blocks for it. No block starts or ends at a proxy.
#pragma once

#include <cstdlib>
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

/// Values are numbered 0 to radix - 1: 0 stays. Of standard digits the value z moves z·weight places ahead. Of balanced
/// ones they are 0, 1, -1, 2, -2, ... (or 0, -1, 1, ...), so they move at most half as far, in both directions.
struct Digit {
  std::size_t dimension;
  std::int32_t number;  ///< within the dimension, from 0
  std::int32_t weight;  ///< in places along the dimension
  std::int32_t radix;
  std::int32_t size;       ///< of the dimension
  std::int32_t ahead = 0;  ///< balanced: offsets below it move ahead in all, others back; 0: standard
  std::int32_t low = 0;    ///< balanced: how far back all digits of the dimension reach together
  std::int32_t least = 0;  ///< balanced: minus the least value

  /// Of an offset along the dimension, 0 to size - 1.
  std::int32_t value(std::int32_t offset) const {
    if (ahead == 0) return offset / weight % radix;
    const std::int32_t z = (offset + low - (offset < ahead ? 0 : size)) / weight % radix - least;
    const bool first = 2 * least < radix ? z > 0 : z < 0;  // of the two directions, that with more values
    return first ? 2 * std::abs(z) - 1 : 2 * std::abs(z);
  }
  /// How many places ahead the value moves, modulo the size.
  std::int32_t step(std::int32_t value) const {
    const std::int32_t z = ahead == 0                                ? value
                           : (value % 2 != 0) == (2 * least < radix) ? (value + 1) / 2
                                                                     : -((value + 1) / 2);
    const auto places = static_cast<std::int32_t>(std::int64_t{z} * weight % size);
    return places < 0 ? places + size : places;
  }
};

/// The digits of all dimensions, in the order in which blocks travel by them.
std::vector<Digit> digits_along(const std::vector<Radices>& radices, const std::vector<std::int32_t>& sizes,
                                Digits digits = Digits::standard);

}  // namespace swapmeet
