/// Orders in which the ranks of a switch send in turn. Routes of a network without --routing hash depend on the destination alone,
/// so ranks of a switch are alike but for which of them sends at a time: an order is searched of what a switch sends, as
/// many blocks at a time as it has ranks, and repeated until each of them has sent every block. For k ranks the search has
/// 1/k of the messages.
#pragma once

#include <functional>
#include <optional>

#include "network/slots.hpp"
#include "schedule/random.hpp"

namespace swapmeet {

/// `bound`: of slots; `more` as for improved(). Nothing: ranks have no host to themselves, or switches not as many of them.
std::optional<SlotTable> slots_in_turn(const Routing& routing, const Placement& placement, std::int64_t bound,
                                       Random& draw, const std::function<bool(std::int64_t)>& more);

}  // namespace swapmeet
