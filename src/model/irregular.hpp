/// Counting where ranks differ, for places are proxies or some ranks lead: see model/counts.hpp.
#pragma once

#include <algorithm>
#include <functional>

#include "model/counts.hpp"
#include "model/work.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

/// Messages, and blocks in them.
struct Tally {
  std::int64_t messages = 0, blocks = 0;
  void add(std::int64_t more, std::int64_t of_blocks) { messages += more, blocks += of_blocks; }
  void keep_most(const Tally& other) {
    messages = std::max(messages, other.messages);
    blocks = std::max(blocks, other.blocks);
  }
};

/// The largest numbers of any rank.
struct IrregularCounts {
  Tally sent;
  std::int64_t scratch_blocks = 0;
  std::vector<RoundCounts> rounds;
};

IrregularCounts count_irregular_grid(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits);

Counts count_leaders(const Spec& spec, const Shape& shape);

std::vector<RoundCounts> leader_rounds(const Spec& spec, const Shape& shape);

/// Adds the phases and copies to empty `work`.
void leader_work(const Spec& spec, const Shape& shape, Work& work);

/// Goes through the digits, value by value: calls begin(digit, z), then use(digit, from, to, blocks) for whatever moves
/// from a rank to a rank; the two may be the same.
void for_each_move(const Arrangement& grid, const std::vector<Digit>& digits,
                   const std::function<void(const Digit&, std::int32_t)>& begin,
                   const std::function<void(const Digit&, Rank, Rank, std::int64_t)>& use);

/// h(z): how many of the offsets 0..size-1 have the value z in this digit.
std::int64_t offsets_with(const Digit& digit, std::int64_t size, std::int64_t value);

}  // namespace swapmeet
