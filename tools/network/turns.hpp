/// Orders in which the ranks of a switch send in turn. Unless the routing is by hash, routes depend on the destination
/// alone, so the ranks of a switch are interchangeable. The search is for an order of the messages of whole switches,
/// with as many blocks at a time as a switch has ranks; it is repeated until each rank has sent every block. For k
/// ranks per switch the search has 1/k of the messages.
#pragma once

#include <functional>
#include <optional>

#include "network/slots.hpp"
#include "schedule/random.hpp"

namespace swapmeet {

/// Returns an order; nullopt if this kind of order does not apply. It requires routing that is not by hash, at least two
/// switches, the same number of ranks, more than one, on each of them, and a host with one link for each rank. `bound`:
/// lower bound on slots. `more`: as in improved().
std::optional<SlotTable> slots_in_turn(const Routing& routing, const Placement& placement, std::int64_t bound,
                                       Random& draw, const std::function<bool(std::int64_t)>& more);

}  // namespace swapmeet
