/// Arrangement puts ranks on a grid: the product of cyclic groups on which store-and-forward exchanges move blocks.
///
/// If groups (nodes) have different sizes, each group is filled up to the size of the largest. The grid then has more
/// places than there are ranks. A place without a rank of its own is a *proxy*: another rank of the same group holds
/// its slots and forwards blocks for it. No block starts or ends at a proxy.
#pragma once

#include <cstdlib>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Arrangement {
  std::vector<std::int32_t> sizes;     ///< of the dimensions; the first varies fastest
  std::vector<Rank> rank_at;           ///< for each place: its rank, or the rank that holds the proxy
  std::vector<std::int32_t> place_of;  ///< for each rank: its own place

  std::int32_t places() const { return static_cast<std::int32_t>(rank_at.size()); }
  /// Returns place + sign·offset, in each dimension modulo its size. `offset` is encoded like a place.
  std::int32_t shifted(std::int32_t place, std::int32_t offset, std::int32_t sign) const {
    std::int32_t sum = 0, stride = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const std::int32_t size = sizes[d];
      // The last dimension needs no division. Divisions take most of the time.
      const bool last = d + 1 == sizes.size();
      const std::int32_t along = (last ? place : place % size) + sign * (last ? offset : offset % size);
      sum += (along < 0 ? along + size : along >= size ? along - size : along) * stride;
      if (last) break;
      stride *= size;
      place /= size;
      offset /= size;
    }
    return sum;
  }

  /// Returns shifted() for every offset, computed without divisions.
  std::vector<std::int32_t> all_shifted(std::int32_t place, std::int32_t sign) const;

  /// Returns the offset from the place of one rank to that of another.
  std::int32_t offset(Rank from, Rank to) const {
    return shifted(place_of[static_cast<std::size_t>(to)], place_of[static_cast<std::size_t>(from)], -1);
  }
  /// Returns the rank whose place is at `offset` from that of `rank`.
  Rank rank_from(Rank rank, std::int32_t offset) const {
    return rank_at[static_cast<std::size_t>(shifted(place_of[static_cast<std::size_t>(rank)], offset, 1))];
  }

  bool is_proxy(std::int32_t place) const {
    return place_of[static_cast<std::size_t>(rank_at[static_cast<std::size_t>(place)])] != place;
  }
};

/// Size of a grid, computed without making the grid.
struct Extent {
  std::vector<std::int32_t> sizes;  ///< of the dimensions
  /// number of places; largest number of places that one rank holds (its own and proxies)
  std::int64_t places = 1, held = 1;
};

/// Returns the extent of the grid of `dimensions`, however unequal its groups are. `places` and `held` are capped at
/// 2^31. O(ranks · levels).
Extent extent(const Dimensions& dimensions, const Shape& shape);

/// Returns the grid of `dimensions`. unsuitable() of a spec with these dimensions must be empty.
Arrangement arrange(const Dimensions& dimensions, const Shape& shape);

/// Returns `count` factors of `product`, as equal as possible, the largest first.
std::vector<std::int32_t> equal_factors(std::int32_t product, std::int32_t count);

/// Returns the radices of dimension `dimension`, which has `size` places: one for each digit, least significant first.
/// Radix::all and Radix::root are replaced by numbers. The last radix is repeated until the digits cover the size. No
/// radix is larger than useful.
Radices digits_of(const std::vector<Radices>& radices, std::size_t dimension, std::int32_t size);

/// A digit of an offset. Its values are numbered 0 to radix - 1; value 0 does not move a block. With standard digits,
/// value z moves a block z·weight places forward. With balanced digits, the numbers stand for the values 0, 1, -1, 2,
/// -2, ... (or 0, -1, 1, ...), so blocks move at most half as far, in both directions.
struct Digit {
  std::size_t dimension;
  std::int32_t number;  ///< of the digit within the dimension, from 0
  std::int32_t weight;  ///< in places along the dimension
  std::int32_t radix;
  std::int32_t size;  ///< of the dimension
  /// balanced: offsets below this one move forward in total, others backward; 0: standard digits
  std::int32_t ahead = 0;
  std::int32_t low = 0;    ///< balanced: how far back all digits of the dimension together can move
  std::int32_t least = 0;  ///< balanced: minus the least value

  bool is_first_of_dimension() const { return number == 0; }
  /// Returns the value of this digit in an offset along the dimension, 0 to size - 1.
  std::int32_t value(std::int32_t offset) const {
    if (ahead == 0) return offset / weight % radix;
    const std::int32_t z = (offset + low - (offset < ahead ? 0 : size)) / weight % radix - least;
    const bool first = 2 * least < radix ? z > 0 : z < 0;  // the direction with more values has the odd numbers
    return first ? 2 * std::abs(z) - 1 : 2 * std::abs(z);
  }
  /// Returns the number of places that the value moves forward, modulo the size.
  std::int32_t step(std::int32_t value) const {
    const std::int32_t z = ahead == 0                                ? value
                           : (value % 2 != 0) == (2 * least < radix) ? (value + 1) / 2
                                                                     : -((value + 1) / 2);
    const auto places = static_cast<std::int32_t>(std::int64_t{z} * weight % size);
    return places < 0 ? places + size : places;
  }
};

/// Returns the digits of all dimensions, in the order in which blocks move by them.
std::vector<Digit> digits_along(const std::vector<Radices>& radices, const std::vector<std::int32_t>& sizes,
                                Digits digits = Digits::standard);

}  // namespace swapmeet
