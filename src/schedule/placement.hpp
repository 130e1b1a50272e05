/// Where the blocks of a flow lie, if they are of equal size: from what travels to what one rank does with buffers.
///
/// The slot of a block says where it lies between two phases, by the layout:
///   basic          scratch[slot]: own blocks are copied there first, and blocks that end in a slot out of it at the
///                  end                                                                      Source: bruck1997, tra
///   modified       receive[s], if the slot's last block is that of s; so only the first copies remain
///                                                                                           Source: traff2014, radix
///   zero-rotation  own blocks in send until they leave; then as modified                    Source: nonuniform
///   zero-copy      as modified, or in a twin of it in scratch, in turn, so that arriving blocks never overwrite
///                  departing ones                                                           Source: traff2014
///
/// Blocks of a message that do not lie side by side are packed first, in a step of copies before the messages of the
/// phase; with MPI datatypes, and within a node but for MPI, they are sent as they lie. Arriving blocks go where they
/// belong, or are staged and unpacked in a step behind: if they lie apart and must not, or if what lies there leaves
/// in the same phase unpacked.
#pragma once

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// The schedule of one rank: pure, as generators are.
Schedule place(const SlotFlow& flow, const Spec& spec, const Shape& shape);

/// Blocks of scratch that are enough on every rank whose flow is this one, as seen from there: which blocks lie side by
/// side depends on the rank.
std::int32_t scratch_anywhere(const SlotFlow& flow, const Spec& spec, const Shape& shape);

}  // namespace swapmeet
