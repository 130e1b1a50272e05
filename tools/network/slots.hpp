/// Conflict-free orders: every message of an all-to-all in a slot in which no link carries more than its capacity.
///
/// Colouring of flows that share links, greedily (longest paths first), then improved until a budget is used up. Where it is
/// too small for so many flows, those of one sender of each switch (turns.hpp).
/// Sources: iterated greedy: culberson1992; moves of a partial colouring: bloechliger2008
#pragma once

#include "network/flows.hpp"
#include "topology/slot_table.hpp"

namespace swapmeet {

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

}  // namespace swapmeet
