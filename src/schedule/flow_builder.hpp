/// FlowBuilder makes the result of a generator: a flow described by the places of blocks (SlotFlow).
///
/// A rank keeps blocks in transit in numbered *slots*, at most one block in each at a time. A place is a Location:
/// send[d] is the rank's own block for d, receive[s] is the place where the block of s ends, scratch[i] is slot i. Runs
/// of places describe the blocks of a message. flow_of() follows blocks from place to place and so finds which blocks
/// each message holds. For blocks of equal size, the layout decides where a slot is in memory (schedule/placement.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "schedule/flow.hpp"
#include "schedule/run_list.hpp"

namespace swapmeet {

inline Location own_block(Rank destination) { return {Buffer::send, destination}; }
inline Location end_of(Rank source) { return {Buffer::receive, source}; }
inline Location slot(std::int32_t number) { return {Buffer::scratch, number}; }

/// The blocks of its messages are runs of places.
struct SlotFlow : RunMessages {
  /// Rounds that are independent: no round of a phase passes on a block that another round of it receives. Messages and
  /// moves read their places as they are when the phase begins. The blocks that they bring are at their places when the
  /// phase ends.
  struct Phase {
    std::uint32_t first_round = 0, round_count = 0;
    std::uint32_t first_move = 0, move_count = 0;
    bool packs = false;  ///< whether blocks that are not contiguous may have to be packed, on this or another rank
  };
  /// Blocks that change places within the rank, without a message. The runs of the source places come first.
  struct Move {
    std::uint32_t first = 0, from_count = 0, to_count = 0;
  };

  Rank ranks = 1, rank = 0;
  std::optional<Degrees> neighbours{};  ///< as in Schedule
  std::vector<Phase> phases;
  std::vector<Round> rounds;
  std::vector<Move> moves;
  std::int32_t slots = 0;
  /// Both empty, or one entry per slot: the destination of the own block that starts in the slot, and the source of the
  /// block that is in it at the end. -1: no such block.
  std::vector<Rank> first_own, last_source;

  std::span<const Round> rounds_of(const Phase& phase) const {
    return std::span(rounds).subspan(phase.first_round, phase.round_count);
  }
  std::span<const Move> moves_of(const Phase& phase) const {
    return std::span(moves).subspan(phase.first_move, phase.move_count);
  }
  std::span<const Run> from(const Move& move) const { return std::span(runs).subspan(move.first, move.from_count); }
  std::span<const Run> to(const Move& move) const {
    return std::span(runs).subspan(move.first + move.from_count, move.to_count);
  }
};

/// Returns which blocks each message holds, found by following blocks from place to place. O(blocks).
Flow flow_of(const SlotFlow& flow);

class FlowBuilder {
 public:
  FlowBuilder(const Shape& shape, Rank rank) {
    made_.ranks = shape.ranks;
    made_.rank = rank;
  }

  /// Reserves memory for `messages` messages in each direction, so that long flows are made without reallocation.
  void reserve(std::size_t messages) { made_.reserve(messages); }

  /// Makes this an exchange with neighbours of a virtual topology. Blocks have their numbers in the application's
  /// buffers.
  void neighbours(Degrees degrees) { made_.neighbours = degrees; }

  /// Sets the slots in which own blocks start and received blocks end; see SlotFlow.
  void slots(std::vector<Rank> first_own, std::vector<Rank> last_source) {
    made_.first_own = std::move(first_own);
    made_.last_source = std::move(last_source);
  }

  /// Begins a phase. The rounds added next belong to it.
  FlowBuilder& phase(bool packs) {
    made_.phases.push_back({.first_round = static_cast<std::uint32_t>(made_.rounds.size()),
                            .first_move = static_cast<std::uint32_t>(made_.moves.size()),
                            .packs = packs});
    return *this;
  }
  /// Begins a round. The messages added next belong to it and start in this order.
  FlowBuilder& round(std::int32_t window = 0, Completion completion = Completion::all,
                     Posting posting = Posting::receives_first) {
    made_.rounds.push_back({.first_send = static_cast<std::uint32_t>(made_.sends.size()),
                            .first_receive = static_cast<std::uint32_t>(made_.receives.size()),
                            .window = window,
                            .completion = completion,
                            .posting = posting});
    ++made_.phases.back().round_count;
    return *this;
  }

  /// Appends a message to the current round. For `last` see Message.
  FlowBuilder& send(Rank to, std::span<const Run> blocks, bool last) {
    made_.sends.push_back(made_.message(to, blocks, last));
    ++made_.rounds.back().send_count;
    return *this;
  }
  FlowBuilder& receive(Rank from, std::span<const Run> blocks, bool last) {
    made_.receives.push_back(made_.message(from, blocks, last));
    ++made_.rounds.back().receive_count;
    return *this;
  }
  FlowBuilder& send(Rank to, Location block, bool last) { return send(to, std::array{run_of(block)}, last); }
  FlowBuilder& receive(Rank from, Location block, bool last) { return receive(from, std::array{run_of(block)}, last); }

  /// Appends a move to the current phase. Both lists have the same number of blocks.
  FlowBuilder& move(std::span<const Run> from, std::span<const Run> to) {
    const auto first = static_cast<std::uint32_t>(made_.runs.size());
    for (const std::span<const Run> places : {from, to})
      made_.runs.insert(made_.runs.end(), places.begin(), places.end());
    made_.moves.push_back({first, static_cast<std::uint32_t>(from.size()), static_cast<std::uint32_t>(to.size())});
    ++made_.phases.back().move_count;
    return *this;
  }
  FlowBuilder& move(Location from, Location to) { return move(std::array{run_of(from)}, std::array{run_of(to)}); }

  /// Returns the flow, with as many slots as it uses.
  SlotFlow finish() && {
    made_.slots = static_cast<std::int32_t>(made_.first_own.size());
    for (const Run& run : made_.runs)
      if (run.buffer == Buffer::scratch)
        made_.slots = std::max({made_.slots, run.first + 1, run.block(run.count - 1) + 1});
    return std::move(made_);
  }

 private:
  SlotFlow made_;
};

}  // namespace swapmeet
