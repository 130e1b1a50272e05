/// The messages and blocks of a rank, round by round, counted in its flow.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

/// Messages of a rank for the value z of one digit.
struct RoundCounts {
  std::int32_t dimension = 0;
  std::int32_t digit = 0;     ///< x, within the dimension; 0 is the least significant
  std::int32_t weight = 1;    ///< in places along the dimension; r^x if all radices are equal
  std::int32_t value = 1;     ///< z
  std::int64_t messages = 0;  ///< 1, unless places are proxies, messages are staggered, or leaders exchange
  std::int64_t blocks = 0;    ///< number of blocks in these messages
};

/// Returns the counts of each round, in the order of the digits. A direct exchange has a round for each peer. The
/// rounds of an exchange by leaders are the positions of algorithms/phase.hpp. They are listed as position z in
/// dimension 0, digit 0 (gather), in dimension 1 (exchange), and in dimension 0, digit 1 (scatter). If ranks differ,
/// each number is the largest of any rank. O(blocks of the ranks that differ).
/// Requires that spec.family is not Family::native and that unsuitable(spec, shape) is empty.
std::vector<RoundCounts> count_rounds(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
