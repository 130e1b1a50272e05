/// Counting where places are carried and ranks differ: see model/counts.hpp.
#pragma once

#include "model/counts.hpp"

namespace swapmeet {

struct Digit {
  std::size_t dimension;
  std::int32_t number;  ///< within the dimension, from 0
  std::int32_t weight;  ///< in places along the dimension
  std::int32_t radix;
};

/// The largest numbers of any rank.
struct CarriedCounts {
  std::int64_t messages = 0, blocks = 0, scratch_blocks = 0;
  std::vector<Round> rounds;
};

CarriedCounts count_carried(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits);

}  // namespace swapmeet
