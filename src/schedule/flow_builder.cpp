#include "schedule/flow_builder.hpp"

#include <utility>

namespace swapmeet {

namespace {

constexpr std::int32_t nothing = -1;  ///< in a slot
constexpr std::int32_t unknown = 0;   ///< whether an arriving block ends here

}  // namespace

FlowBuilder::FlowBuilder(const Shape& shape, Rank rank) {
  made_.flow.ranks = shape.ranks;
  made_.flow.rank = rank;
}

FlowBuilder& FlowBuilder::reserve(std::size_t messages, std::size_t blocks) {
  made_.flow.sends.reserve(messages);
  made_.flow.receives.reserve(messages);
  made_.flow.departing.reserve(blocks);
  made_.flow.arriving.reserve(blocks);
  made_.departing.reserve(blocks);
  made_.arriving.reserve(blocks);
  return *this;
}

FlowBuilder& FlowBuilder::slots(std::vector<Rank> first_own, std::vector<Rank> last_source) {
  contents_ = first_own;
  made_.slots = static_cast<std::int32_t>(first_own.size());
  made_.first_own = std::move(first_own);
  made_.last_source = std::move(last_source);
  return *this;
}

FlowBuilder& FlowBuilder::phase(bool packs) {
  end_phase();
  made_.phases.push_back({.first_round = static_cast<std::uint32_t>(made_.flow.rounds.size()),
                          .first_move = static_cast<std::uint32_t>(made_.moves.size()),
                          .packs = packs});
  return *this;
}

FlowBuilder& FlowBuilder::round(std::int32_t window, Completion completion, Posting posting) {
  made_.flow.rounds.push_back({.first_send = static_cast<std::uint32_t>(made_.flow.sends.size()),
                               .first_receive = static_cast<std::uint32_t>(made_.flow.receives.size()),
                               .window = window,
                               .completion = completion,
                               .posting = posting});
  ++made_.phases.back().round_count;
  return *this;
}

FlowBuilder& FlowBuilder::send(Rank to, std::span<const Location> blocks, bool last) {
  Flow& flow = made_.flow;
  flow.sends.push_back(
      {to, static_cast<std::uint32_t>(flow.departing.size()), static_cast<std::uint32_t>(blocks.size()), last});
  ++flow.rounds.back().send_count;
  made_.departing.insert(made_.departing.end(), blocks.begin(), blocks.end());
  for (const Location place : blocks) flow.departing.push_back(number_at(place));
  return *this;
}

FlowBuilder& FlowBuilder::receive(Rank from, std::span<const Location> blocks, bool last) {
  Flow& flow = made_.flow;
  flow.receives.push_back(
      {from, static_cast<std::uint32_t>(made_.arriving.size()), static_cast<std::uint32_t>(blocks.size()), last});
  ++flow.rounds.back().receive_count;
  made_.arriving.insert(made_.arriving.end(), blocks.begin(), blocks.end());
  return *this;
}

FlowBuilder& FlowBuilder::move(std::span<const Location> from, std::span<const Location> to) {
  made_.moves.push_back({static_cast<std::uint32_t>(made_.leaving.size()), static_cast<std::uint32_t>(from.size())});
  ++made_.phases.back().move_count;
  made_.leaving.insert(made_.leaving.end(), from.begin(), from.end());
  made_.entering.insert(made_.entering.end(), to.begin(), to.end());
  return *this;
}

SlotFlow FlowBuilder::finish() && {
  end_phase();
  for (std::size_t i = 0; i < made_.last_source.size(); ++i)
    if (const std::int32_t number = contents_[i]; made_.last_source[i] >= 0 && number >= made_.flow.ranks)
      made_.flow.arriving[static_cast<std::size_t>(number - made_.flow.ranks)] = -1 - made_.last_source[i];
  number_blocks();
  return std::move(made_);
}

std::int32_t& FlowBuilder::content(std::int32_t slot) {
  if (slot >= made_.slots) {
    made_.slots = slot + 1;
    contents_.resize(static_cast<std::size_t>(made_.slots), nothing);
  }
  return contents_[static_cast<std::size_t>(slot)];
}

std::int32_t FlowBuilder::number_at(Location place) {
  return place.buffer == Buffer::send ? place.block : content(place.block);
}

/// What arrived and what was moved lies at its place from now on.
void FlowBuilder::end_phase() {
  if (made_.phases.empty()) return;
  Flow& flow = made_.flow;
  const SlotFlow::Phase& phase = made_.phases.back();
  std::vector<std::int32_t> moved;
  const std::size_t first_moved = phase.move_count == 0 ? made_.leaving.size() : made_.moves[phase.first_move].first;
  for (std::size_t i = first_moved; i < made_.leaving.size(); ++i) moved.push_back(number_at(made_.leaving[i]));
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Location to = made_.entering[first_moved + i];
    if (to.buffer == Buffer::scratch) content(to.block) = moved[i];
    else if (moved[i] >= flow.ranks) flow.arriving[static_cast<std::size_t>(moved[i] - flow.ranks)] = -1 - to.block;
  }
  flow.arriving.resize(made_.arriving.size(), unknown);
  for (; settled_ < made_.arriving.size(); ++settled_) {
    const Location place = made_.arriving[settled_];
    if (place.buffer == Buffer::scratch) content(place.block) = flow.ranks + static_cast<std::int32_t>(settled_);
    else flow.arriving[settled_] = -1 - place.block;
  }
}

/// Blocks that are passed on get their final numbers.
void FlowBuilder::number_blocks() {
  Flow& flow = made_.flow;
  for (std::int32_t& block : flow.arriving)
    if (block == unknown) block = flow.ranks + flow.passed_on++;
  for (std::int32_t& block : flow.departing)
    if (block >= flow.ranks) block = flow.arriving[static_cast<std::size_t>(block - flow.ranks)];
}

}  // namespace swapmeet
