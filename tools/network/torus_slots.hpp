/// Conflict-free orders of tori whose messages go along one dimension after the other, made of orders of their rings.
///
/// In a ring each pair (from, to) of places, from = to among them, has a phase and a part of it. In a phase a place
/// sends once at most, and receives once at most; in a part of a phase a link carries one message at most in either
/// direction. In the torus the slot of a message is the phase of its pair in each dimension, and the sum of the parts
/// modulo the most parts of any ring. So in every slot all dimensions and both directions are in use at once.
///
/// Proof that no link carries two messages in a slot: docs/proofs.md, "Orders of tori"; each order is checked as well.
/// Source:  hinrichs1994 (phases of a square torus as products of phases of rings of 8m places); kirkman1847 (matchings)
/// Cost:    n phases of ⌈n/8⌉ parts for a ring of n = 4m places: with n = 8m in all dimensions, the bound exactly
#pragma once

#include <optional>
#include <vector>

#include "network/slots.hpp"

namespace swapmeet {

/// The sizes of the torus, first dimension first, if its switches are the places of one, row by row; {}: they are not.
std::vector<std::int32_t> torus_sizes(const Network& network);

/// Ranks, slots and slot_of. Nothing: it is no torus, it is routed otherwise, a host has several links, or a ring is too
/// long. Where hosts or ranks share a switch, once for each pair of the i-th rank of one and the j-th of another.
std::optional<SlotTable> torus_slots(const Routing& routing, const Placement& placement);

}  // namespace swapmeet
