/// Counting where places are proxies and ranks differ: see model/counts.hpp.
#pragma once

#include <functional>

#include "model/counts.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

struct Digit {
  std::size_t dimension;
  std::int32_t number;  ///< within the dimension, from 0
  std::int32_t weight;  ///< in places along the dimension
  std::int32_t radix;
};

/// The largest numbers of any rank.
struct IrregularCounts {
  std::int64_t messages = 0, blocks = 0, scratch_blocks = 0;
  std::vector<RoundCounts> rounds;
};

IrregularCounts count_irregular_grid(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits);

/// Calls use(digit, z, from, to, blocks) for whatever moves from a rank to a rank, digit by digit and value by value;
/// the two may be the same.
void for_each_move(const Arrangement& grid, const std::vector<Digit>& digits,
                   const std::function<void(const Digit&, std::int32_t, Rank, Rank, std::int64_t)>& use);

/// The digits of all dimensions of a grid, in the order in which they go by. A direct exchange has a single one.
std::vector<Digit> digits_along(const Spec& spec, const std::vector<std::int32_t>& sizes);

/// h(z): how many of the offsets 0..size-1 have the value z in this digit.
std::int64_t offsets_with(const Digit& digit, std::int64_t size, std::int64_t value);

}  // namespace swapmeet
