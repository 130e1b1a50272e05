/// Makes the schedule of one rank from its flow, for blocks of equal size: decides where each block is in memory.
///
/// The layout decides where the block of a slot is between two phases:
///   basic          in scratch[slot]. Own blocks are copied there first. Blocks that end in a slot are copied out of
///                  it at the end.                                                           Source: bruck1997, tra
///   modified       in receive[s], if s is the source of the slot's last block. Only the initial copies remain.
///                                                                                            Source: traff2014, radix
///   zero-rotation  own blocks in send until they leave, then as in modified.                 Source: nonuniform
///   zero-copy      as in modified and in a second copy of it in scratch, alternately, so that arriving blocks never
///                  overwrite departing ones.                                                 Source: traff2014
///
/// Blocks of a message that are not contiguous are packed in a step of copies before the messages of the phase. They
/// are sent without packing by MPI datatypes, and between ranks of a node unless their transport is MPI. Arriving
/// blocks are usually received at their final places. They are received in a staging area instead, and unpacked in a
/// later step, in two cases: if they would have to be packed when sent, and if their places hold blocks that leave in
/// the same phase without being packed.
#pragma once

#include "schedule/flow_builder.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// Returns the schedule of one rank. A pure function, like generators.
Schedule place(const SlotFlow& flow, const Spec& spec, const Shape& shape);

/// Returns a number of scratch blocks that is sufficient on every rank whose flow is this one relative to its own rank
/// number. Such ranks may need different numbers of blocks, because the rank decides which blocks are contiguous.
std::int32_t scratch_anywhere(const SlotFlow& flow, const Spec& spec, const Shape& shape);

}  // namespace swapmeet
