/// Conflict-free orders: every message of an all-to-all has a slot such that no link exceeds its capacity in any slot.
///
/// The order is a colouring of messages that share links. It starts with a greedy colouring (longest paths first),
/// which is improved until a budget is used up. If the budget is too small for all messages, the messages of only one
/// sender of each switch are coloured (turns.hpp).
///
/// Source:  bloechliger2008 (moves of a partial colouring)
#pragma once

#include "network/flows.hpp"
#include "topology/slot_table.hpp"

namespace swapmeet {

struct Effort {
  std::uint64_t seed = 0;
  /// limit on moves of the improvement; the result depends on this, not on the machine
  std::int64_t moves = 1'000'000;
  /// time limit; the best order so far is then returned, and is not reproducible
  double seconds = 10;
};

/// Returns an order for equal messages. Requires at least one rank.
SlotTable conflict_free_slots(const Routing& routing, const Placement& placement, const Effort& effort);

/// Returns an order for messages of unequal size. A slot lasts as long as its largest message, and the sum over all
/// slots is minimized (weighted.cpp). It is never longer than the order for equal messages. SlotTable::bound of the
/// result is the lower bound for equal messages, a number of slots.
SlotTable weighted_slots(const Routing& routing, const Placement& placement, Weights weights, const Effort& effort);

/// Returns the text form of a table, as parse_slots() reads it.
std::string to_text(const SlotTable& slots);

/// Returns the sum over all slots of their largest messages, in bytes.
std::int64_t bytes_in_turn(const SlotTable& slots, Weights weights);

}  // namespace swapmeet
