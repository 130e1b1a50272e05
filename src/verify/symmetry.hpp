/// Proof of an exchange that looks alike from every rank, from the schedules of a few ranks: its cost does not grow
/// with the number of ranks, as that of verify() does. What it proves and what it takes on trust: docs/proofs.md,
/// "Exchanges that look alike from every rank".
///
/// Ranks are the places of a product of cyclic groups (topology/arrangement.hpp). Seen from a rank, a peer is a way to
/// go on the grid, and a block is the way back to its source and the way to go on to its destination. The *trace* of a
/// rank is what its peers notice of it, seen so: in each step, which way its messages go and which blocks they carry. A
/// rank whose peers have its own trace can be executed alone: what comes from a peer is what it sends itself, the other
/// way.
///
/// The schedules need not be each other's images block for block. Where blocks lie side by side for one rank, the end
/// of the buffer may fall between them for another, which then packs what the first sends as it lies.
#pragma once

#include "verify/verify.hpp"

namespace swapmeet {

/// Verifies the schedules of some ranks on a grid of these sizes, the first dimension running fastest, as if all ranks
/// had the trace of the first one; that the others have it is checked. With one schedule of each rank, all is proved
/// that verify() proves, and for every window and completion rule.
/// Sets the messages and blocks of all ranks.
Verdict verify_symmetric(std::span<const Schedule> sample, const std::vector<std::int32_t>& sizes);

/// Generates and verifies some ranks of `spec`. Requires generate() to be defined; a finding if `spec` is not of a
/// kind that looks alike from every rank (order=shift; dims=P, sizes or automatic, or
/// groups of equal size in the order of ranks).
Verdict verify_symmetric(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
