/// Adds the rounds of a phase in which ranks may have different numbers of messages.
///
/// Every message has a position, the same at both ends. The window counts messages or positions. Counting messages is
/// safe with complete=any and complete=test, and if all ranks have the same number of messages at each position.
/// Otherwise, with complete=all, batches of `window` messages could wait for one another in a cycle. Then the window
/// counts positions: a round holds the messages of `window` positions, all in flight together, and a phase has the same
/// number of rounds on every rank.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/flow_builder.hpp"
#include "schedule/run_list.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

struct PositionedMessage {
  Rank peer = 0;
  std::int32_t position = 0;  ///< at least 1
  bool last = false;          ///< see Message
  std::span<const Run> blocks{};
};

/// The messages of a phase in one direction, and the places of their blocks.
class PositionedMessages {
 public:
  void add(Rank peer, std::int32_t position, bool last, RunList blocks) {
    places_.push_back(std::move(blocks));
    list_.push_back({peer, position, last, places_.back().runs()});  // moving a vector keeps its elements in place
  }
  void add(Rank peer, std::int32_t position, Location block) {
    RunList blocks;
    blocks.add(block);
    add(peer, position, true, std::move(blocks));
  }
  void sort() { std::ranges::stable_sort(list_, {}, &PositionedMessage::position); }

  std::span<const PositionedMessage> list() const { return list_; }

 private:
  std::vector<RunList> places_;
  std::vector<PositionedMessage> list_;
};

/// Adds the rounds for messages at positions 1 to `positions`, the largest position of any rank; 0: one round without
/// messages. Both lists are sorted by position. Two ranks list the messages between them at one position in the same
/// order. `by_position`: whether the window counts positions instead of messages.
void add_rounds(FlowBuilder& flow, const Spec& spec, std::int32_t positions, bool by_position,
                std::span<const PositionedMessage> outgoing, std::span<const PositionedMessage> incoming);

}  // namespace swapmeet
