/// Messages that are exchanged together by ranks of which some have more of them than others.
///
/// Every message has a position, the same at both ends. With complete=any and test the window is of messages. With
/// complete=all, batches of so many messages could wait for one another in a circle: there a round holds `window`
/// positions, all in flight. So a phase has as many rounds on every rank.
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
  std::int32_t position = 0;  ///< 1 or more
  bool last = false;          ///< see Message
  std::span<const Run> blocks{};
};

/// The messages of a phase in one direction, and the places of their blocks.
class PositionedMessages {
 public:
  void add(Rank peer, std::int32_t position, bool last, RunList blocks) {
    places_.push_back(std::move(blocks));
    list_.push_back({peer, position, last, places_.back().runs()});  // a vector that moves keeps its elements
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

/// Adds the rounds of messages at positions 1 to `positions`, the most of any rank; 0: one round without messages.
/// Both lists are sorted by position; at one position those between two ranks are in the same order at both.
/// `by_position`: a window is of positions, even where windows of messages would do.
void add_rounds(FlowBuilder& flow, const Spec& spec, std::int32_t positions, bool by_position,
                std::span<const PositionedMessage> outgoing, std::span<const PositionedMessage> incoming);

}  // namespace swapmeet
