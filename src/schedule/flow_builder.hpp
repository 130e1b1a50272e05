/// The only way to make a flow: a generator says which blocks travel by the places that they are in.
///
/// A rank keeps blocks that are under way in numbered *slots*, at most one block in each at a time. A place is a
/// Location: send[d] is the rank's own block for d, receive[s] is where the block of s ends, scratch[i] is slot i. The
/// builder follows the blocks from place to place, and so knows which of them each message holds. Where blocks of equal
/// size really lie is decided later (schedule/placement.hpp).
#pragma once

#include <vector>

#include "schedule/flow.hpp"
#include "schedule/run_list.hpp"

namespace swapmeet {

inline Location own_block(Rank destination) { return {Buffer::send, destination}; }
inline Location end_of(Rank source) { return {Buffer::receive, source}; }
inline Location slot(std::int32_t number) { return {Buffer::scratch, number}; }

/// A flow, and the place of each block in it.
struct SlotFlow {
  /// Rounds of which none passes on what another one receives: messages and moves take what lies at their places when
  /// the phase begins; what they bring lies there when it ends.
  struct Phase {
    std::uint32_t first_round = 0, round_count = 0;
    std::uint32_t first_move = 0, move_count = 0;
    bool packs = false;  ///< blocks that lie apart may have to be packed, on this rank or another
  };
  /// Blocks that go from places to other places of the same rank, without a message.
  struct Move {
    std::uint32_t first = 0, count = 0;  ///< in `leaving` and `entering`
  };

  Flow flow;
  std::vector<Location> departing, arriving;  ///< the places of flow.departing and flow.arriving
  std::vector<Phase> phases;
  std::vector<Move> moves;
  std::vector<Location> leaving, entering;  ///< the places that moves take blocks from and bring them to
  std::int32_t slots = 0;
  /// If not empty, for each slot: the destination of the own block that is there first, and the source of the block
  /// that is there last; -1: none.
  std::vector<Rank> first_own, last_source;
};

class FlowBuilder {
 public:
  FlowBuilder(const Shape& shape, Rank rank);

  /// Room for so many messages and blocks in each direction, so that long flows are made without reallocation.
  FlowBuilder& reserve(std::size_t messages, std::size_t blocks);

  /// Slots that own blocks begin in, and that blocks end in: see SlotFlow. Before the first phase.
  FlowBuilder& slots(std::vector<Rank> first_own, std::vector<Rank> last_source);

  /// Begin a phase; the rounds that follow belong to it.
  FlowBuilder& phase(bool packs);
  /// Begin a round; the messages that follow belong to it, and start in this order.
  FlowBuilder& round(std::int32_t window = 0, Completion completion = Completion::all,
                     Posting posting = Posting::receives_first);

  /// `last`: see Message.
  FlowBuilder& send(Rank to, std::span<const Location> blocks, bool last);
  FlowBuilder& receive(Rank from, std::span<const Location> blocks, bool last);
  FlowBuilder& send(Rank to, Location block, bool last) { return send(to, {&block, 1}, last); }
  FlowBuilder& receive(Rank from, Location block, bool last) { return receive(from, {&block, 1}, last); }
  FlowBuilder& move(std::span<const Location> from, std::span<const Location> to);
  FlowBuilder& move(Location from, Location to) { return move({&from, 1}, {&to, 1}); }

  SlotFlow finish() &&;

 private:
  std::int32_t& content(std::int32_t slot);
  std::int32_t number_at(Location place);
  void end_phase();
  void number_blocks();

  SlotFlow made_;
  std::vector<std::int32_t> contents_;  ///< of each slot: the number of a block; that of an arriving one: P + its index
  std::size_t settled_ = 0;             ///< blocks that arrived in the phases that are over
};

}  // namespace swapmeet
