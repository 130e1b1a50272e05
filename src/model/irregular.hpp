/// Counts of exchanges in which ranks differ because places are proxies or some ranks lead. See model/counts.hpp.
#pragma once

#include <algorithm>
#include <functional>

#include "model/counts.hpp"
#include "model/work.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

/// A number of messages and the number of blocks in them.
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

/// Returns the counts of an exchange on a grid with proxies.
IrregularCounts count_irregular_grid(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits);

/// Returns the counts of an exchange by leaders.
Counts count_leaders(const Spec& spec, const Shape& shape);

/// Returns the counts of each round of an exchange by leaders.
std::vector<RoundCounts> leader_rounds(const Spec& spec, const Shape& shape);

/// Adds the phases and copies of an exchange by leaders to `work`, which must be empty.
void leader_work(const Spec& spec, const Shape& shape, Work& work);

/// Goes through the values of all digits. Calls begin(digit, z) for each value, then use(digit, from, to, blocks) for
/// the blocks that move between each pair of places. `from` and `to` are the ranks of the places, which may be the same
/// rank.
void for_each_move(const Arrangement& grid, const std::vector<Digit>& digits,
                   const std::function<void(const Digit&, std::int32_t)>& begin,
                   const std::function<void(const Digit&, Rank, Rank, std::int64_t)>& use);

/// Returns h(z): how many of the offsets 0..size-1 have the value z in this digit.
std::int64_t offsets_with(const Digit& digit, std::int64_t size, std::int64_t value);

}  // namespace swapmeet
