#include "schedule/flow_builder.hpp"

#include <algorithm>
#include <utility>

namespace swapmeet {

FlowBuilder::FlowBuilder(const Shape& shape, Rank rank) {
  made_.ranks = shape.ranks;
  made_.rank = rank;
}

FlowBuilder& FlowBuilder::reserve(std::size_t messages) {
  made_.sends.reserve(messages);
  made_.receives.reserve(messages);
  made_.runs.reserve(2 * messages);
  return *this;
}

FlowBuilder& FlowBuilder::neighbours(Degrees degrees) {
  made_.neighbours = degrees;
  return *this;
}

FlowBuilder& FlowBuilder::slots(std::vector<Rank> first_own, std::vector<Rank> last_source) {
  made_.slots = static_cast<std::int32_t>(first_own.size());
  made_.first_own = std::move(first_own);
  made_.last_source = std::move(last_source);
  return *this;
}

FlowBuilder& FlowBuilder::phase(bool packs) {
  made_.phases.push_back({.first_round = static_cast<std::uint32_t>(made_.rounds.size()),
                          .first_move = static_cast<std::uint32_t>(made_.moves.size()),
                          .packs = packs});
  return *this;
}

FlowBuilder& FlowBuilder::round(std::int32_t window, Completion completion, Posting posting) {
  made_.rounds.push_back({.first_send = static_cast<std::uint32_t>(made_.sends.size()),
                          .first_receive = static_cast<std::uint32_t>(made_.receives.size()),
                          .window = window,
                          .completion = completion,
                          .posting = posting});
  ++made_.phases.back().round_count;
  return *this;
}

FlowBuilder& FlowBuilder::send(Rank to, std::span<const Run> blocks, bool last) {
  made_.sends.push_back({to, static_cast<std::uint32_t>(made_.runs.size()), add(blocks), last});
  ++made_.rounds.back().send_count;
  return *this;
}

FlowBuilder& FlowBuilder::receive(Rank from, std::span<const Run> blocks, bool last) {
  made_.receives.push_back({from, static_cast<std::uint32_t>(made_.runs.size()), add(blocks), last});
  ++made_.rounds.back().receive_count;
  return *this;
}

FlowBuilder& FlowBuilder::move(std::span<const Run> from, std::span<const Run> to) {
  made_.moves.push_back({static_cast<std::uint32_t>(made_.runs.size()), add(from), add(to)});
  ++made_.phases.back().move_count;
  return *this;
}

SlotFlow FlowBuilder::finish() && { return std::move(made_); }

/// Appends `blocks` and returns the number of runs.
std::uint32_t FlowBuilder::add(std::span<const Run> blocks) {
  for (const Run& run : blocks) {
    made_.runs.push_back(run);
    if (run.buffer == Buffer::scratch)
      made_.slots = std::max({made_.slots, run.first + 1, run.block(run.count - 1) + 1});
  }
  return static_cast<std::uint32_t>(blocks.size());
}

}  // namespace swapmeet
