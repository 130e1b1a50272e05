/// The proof of an exchange that looks alike from every rank, from the schedules of a few ranks. Its cost does not grow
/// with the number of ranks, unlike that of verify(). docs/proofs.md, "Exchanges that look alike from every rank",
/// states what is proved and what is assumed.
///
/// Ranks are the places of a product of cyclic groups (topology/arrangement.hpp). Relative to a rank, a peer is a shift
/// on the grid, and a block is a pair of shifts: back to its source, and from there to its destination. The *trace* of
/// a rank is the relative description of what its peers notice: in each step, the shifts to the receivers of its
/// messages, and the blocks in them. A rank whose peers have the same trace can be executed alone: it receives from a
/// peer what it sends itself, with the shift reversed.
///
/// The schedules need not be images of one another block for block. Adjacent blocks of one rank may be separated by the
/// end of the buffer at another rank, which then packs blocks that the first one sends directly.
#pragma once

#include "proofs/verify.hpp"

namespace swapmeet {

/// Verifies the schedules of some ranks on a grid of these sizes, the first dimension running fastest, as if all ranks
/// had the trace of the first one. It checks that the other ranks of the sample have that trace. With the schedules of
/// all ranks it proves everything that verify() proves, for every window and completion rule. Sets the numbers of
/// messages and blocks of all ranks.
Verdict verify_symmetric(std::span<const Schedule> sample, const std::vector<std::int32_t>& sizes);

/// Generates and verifies the schedules of some ranks of `spec`. Requires generate() to be defined. Adds a finding if
/// `spec` does not look alike from every rank; such specs have order=shift, or dims=P, sizes or automatic, or groups of
/// equal size in the order of ranks.
Verdict verify_symmetric(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
