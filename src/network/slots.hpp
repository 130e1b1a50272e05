/// Conflict-free orders: every message of an all-to-all in a slot in which no link carries more than its capacity.
///
/// Colouring of flows that share links, greedily (longest paths first), then improved until a budget is used up. Where it is
/// too small for so many flows, those of one sender of each switch (turns.hpp).
/// Sources: iterated greedy: culberson1992; moves of a partial colouring: bloechliger2008
#pragma once

#include "network/flows.hpp"

namespace swapmeet {

/// In which slot each rank sends to each other.
struct SlotTable {
  Rank ranks = 0;
  std::int32_t slots = 0;
  std::int64_t bound = 0;             ///< no schedule has fewer
  std::uint64_t key = 0;              ///< network_key() of what it was made for
  std::vector<std::int32_t> slot_of;  ///< [source · P + destination]; -1: to itself

  std::int32_t slot(Rank from, Rank to) const {
    return slot_of[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to)];
  }
  /// For each slot, to whom `rank` sends; -1: to nobody.
  std::vector<Rank> to(Rank rank) const;
  /// For each slot, from whom it receives; -1: from nobody.
  std::vector<Rank> from(Rank rank) const;

  bool operator==(const SlotTable&) const = default;
};

struct Effort {
  std::uint64_t seed = 0;
  std::int64_t moves = 1'000'000;  ///< of improvement, at most; the result depends on this, not on the machine
  /// after which it stops at the best so far, whatever the moves; a result that it cut short is not reproducible
  double seconds = 10;
};

/// Requires at least one rank.
SlotTable conflict_free_slots(const Routing& routing, const Placement& placement, const Effort& effort);

/// The same for messages of unequal size: a slot lasts as long as its largest message, and all slots together as short
/// as can be (weighted.cpp). Never longer than the order of equal messages. `bound` is that of the number of slots.
SlotTable weighted_slots(const Routing& routing, const Placement& placement, Weights weights, const Effort& effort);

/// The sum of the largest messages of all slots.
std::int64_t bytes_in_turn(const SlotTable& slots, Weights weights);

/// docs/networks.md, "Tables of slots".
std::string to_text(const SlotTable& slots);
Result<SlotTable> parse_slots(std::string_view text);

}  // namespace swapmeet
