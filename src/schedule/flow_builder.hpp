/// What generators make: a flow, told by the places that blocks are in.
///
/// A rank keeps blocks that are under way in numbered *slots*, at most one block in each at a time. A place is a
/// Location: send[d] is the rank's own block for d, receive[s] is where the block of s ends, scratch[i] is slot i. Runs
/// of places say which blocks a message holds. By following blocks from place to place one finds which they are
/// (flow_of()); where those of equal size really lie is decided by the layout (schedule/placement.hpp).
#pragma once

#include <array>
#include <vector>

#include "schedule/flow.hpp"
#include "schedule/run_list.hpp"

namespace swapmeet {

inline Location own_block(Rank destination) { return {Buffer::send, destination}; }
inline Location end_of(Rank source) { return {Buffer::receive, source}; }
inline Location slot(std::int32_t number) { return {Buffer::scratch, number}; }

struct SlotFlow {
  /// Rounds of which none passes on what another one receives: messages and moves take what lies at their places when
  /// the phase begins; what they bring lies there when it ends.
  struct Phase {
    std::uint32_t first_round = 0, round_count = 0;
    std::uint32_t first_move = 0, move_count = 0;
    bool packs = false;  ///< blocks that lie apart may have to be packed, on this rank or another
  };
  /// Blocks that go from places to other places of the same rank, without a message: runs, those where they come from
  /// first.
  struct Move {
    std::uint32_t first = 0, from_count = 0, to_count = 0;
  };

  Rank ranks = 1, rank = 0;
  std::optional<Degrees> neighbours{};  ///< as of Schedule
  std::vector<Phase> phases;
  std::vector<Round> rounds;
  std::vector<Message> sends, receives;  ///< their blocks are runs of places
  std::vector<Move> moves;
  std::vector<Run> runs;
  std::int32_t slots = 0;
  /// If not empty, for each slot: the destination of the own block that is there first, and the source of the block
  /// that is there last; -1: none.
  std::vector<Rank> first_own, last_source;

  std::span<const Round> rounds_of(const Phase& phase) const {
    return std::span(rounds).subspan(phase.first_round, phase.round_count);
  }
  std::span<const Move> moves_of(const Phase& phase) const {
    return std::span(moves).subspan(phase.first_move, phase.move_count);
  }
  std::span<const Message> sends_of(const Round& round) const {
    return std::span(sends).subspan(round.first_send, round.send_count);
  }
  std::span<const Message> receives_of(const Round& round) const {
    return std::span(receives).subspan(round.first_receive, round.receive_count);
  }
  std::span<const Run> runs_of(const Message& message) const {
    return std::span(runs).subspan(message.first, message.count);
  }
  std::span<const Run> from(const Move& move) const { return std::span(runs).subspan(move.first, move.from_count); }
  std::span<const Run> to(const Move& move) const {
    return std::span(runs).subspan(move.first + move.from_count, move.to_count);
  }
};

/// Which blocks travel, found by following them from place to place. O(blocks).
Flow flow_of(const SlotFlow& flow);

class FlowBuilder {
 public:
  FlowBuilder(const Shape& shape, Rank rank);

  /// Room for so many messages in each direction, so that long flows are made without reallocation.
  FlowBuilder& reserve(std::size_t messages);

  /// What follows is an exchange with neighbours: blocks have the numbers that they have in the application's buffers.
  FlowBuilder& neighbours(Degrees degrees);

  /// Slots that own blocks begin in, and that blocks end in: see SlotFlow. Before the first phase.
  FlowBuilder& slots(std::vector<Rank> first_own, std::vector<Rank> last_source);

  /// Begin a phase; the rounds that follow belong to it.
  FlowBuilder& phase(bool packs);
  /// Begin a round; the messages that follow belong to it, and start in this order.
  FlowBuilder& round(std::int32_t window = 0, Completion completion = Completion::all,
                     Posting posting = Posting::receives_first);

  /// `last`: see Message.
  FlowBuilder& send(Rank to, std::span<const Run> blocks, bool last);
  FlowBuilder& receive(Rank from, std::span<const Run> blocks, bool last);
  FlowBuilder& send(Rank to, Location block, bool last) { return send(to, std::array{run_of(block)}, last); }
  FlowBuilder& receive(Rank from, Location block, bool last) { return receive(from, std::array{run_of(block)}, last); }
  /// As many blocks in both.
  FlowBuilder& move(std::span<const Run> from, std::span<const Run> to);
  FlowBuilder& move(Location from, Location to) { return move(std::array{run_of(from)}, std::array{run_of(to)}); }

  SlotFlow finish() &&;

 private:
  std::uint32_t add(std::span<const Run> blocks);

  SlotFlow made_;
};

}  // namespace swapmeet
