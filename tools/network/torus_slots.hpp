/// Conflict-free orders of tori with dimension-order routing, composed of orders of their rings.
///
/// In a ring each pair (from, to) of places, with from = to included, has a phase and a part of it. In a phase a place
/// sends at most once and receives at most once. In a part of a phase a link carries at most one message in each
/// direction. In the torus the slot of a message consists of the phases of its pair in each dimension, and of the sum
/// of the parts modulo the largest number of parts of any ring. So in every slot all dimensions and both directions are
/// in use.
///
/// The proof that no link carries two messages in a slot is in docs/proofs.md, "Orders of tori"; each order is checked
/// as well.
///
/// Source:  hinrichs1994 (phases of a square torus as products of phases of rings of 8m places); kirkman1847
///          (matchings)
/// Cost:    n phases of ⌈n/8⌉ parts for a ring of n = 4m places: with n = 8m in all dimensions, the bound exactly
#pragma once

#include <optional>
#include <vector>

#include "network/slots.hpp"

namespace swapmeet {

/// Returns the sizes of the torus, first dimension first, if the switches of the network are the places of one, row by
/// row; else {}.
std::vector<std::int32_t> torus_sizes(const Network& network);

/// Returns an order with ranks, slots and slot_of set. nullopt if the network is no torus, has another routing, a host
/// has several links, or a ring is too long. If hosts or ranks share a switch, the order is repeated for each pair of
/// numbers (i, j): the i-th rank of each switch sends to the j-th of the others.
std::optional<SlotTable> torus_slots(const Routing& routing, const Placement& placement);

}  // namespace swapmeet
