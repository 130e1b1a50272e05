#include "schedule/builder.hpp"

namespace swapmeet {

ScheduleBuilder::ScheduleBuilder(const Shape& shape, Rank rank) {
  schedule_.ranks = shape.ranks;
  schedule_.rank = rank;
}

ScheduleBuilder& ScheduleBuilder::reserve(std::size_t messages) {
  schedule_.sends.reserve(messages);
  schedule_.receives.reserve(messages);
  schedule_.runs.reserve(2 * messages);
  return *this;
}

ScheduleBuilder& ScheduleBuilder::scratch(std::int32_t blocks) {
  schedule_.scratch_blocks = blocks;
  return *this;
}

ScheduleBuilder& ScheduleBuilder::segments(std::int64_t bytes) {
  schedule_.segment_bytes = bytes;
  return *this;
}

ScheduleBuilder& ScheduleBuilder::neighbours(std::optional<Degrees> degrees) {
  schedule_.neighbours = degrees;
  return *this;
}

ScheduleBuilder& ScheduleBuilder::step(std::int32_t window, Completion completion, Posting posting) {
  Step step;
  step.first_copy = static_cast<std::uint32_t>(schedule_.copies.size());
  step.first_send = static_cast<std::uint32_t>(schedule_.sends.size());
  step.first_receive = static_cast<std::uint32_t>(schedule_.receives.size());
  step.window = window;
  step.completion = completion;
  step.posting = posting;
  schedule_.steps.push_back(step);
  return *this;
}

ScheduleBuilder& ScheduleBuilder::copies(Purpose purpose) {
  step();
  schedule_.steps.back().purpose = purpose;
  return *this;
}

ScheduleBuilder& ScheduleBuilder::copy(Run from, Run to) {
  schedule_.copies.push_back({from, to});
  ++schedule_.steps.back().copy_count;
  return *this;
}

ScheduleBuilder& ScheduleBuilder::send(Rank to, std::span<const Run> blocks, bool last) {
  schedule_.sends.push_back(message(to, blocks, last));
  ++schedule_.steps.back().send_count;
  return *this;
}

ScheduleBuilder& ScheduleBuilder::receive(Rank from, std::span<const Run> blocks, bool last) {
  schedule_.receives.push_back(message(from, blocks, last));
  ++schedule_.steps.back().receive_count;
  return *this;
}

Schedule ScheduleBuilder::finish() && {
  schedule_.steps.shrink_to_fit();
  schedule_.copies.shrink_to_fit();
  schedule_.sends.shrink_to_fit();
  schedule_.receives.shrink_to_fit();
  schedule_.runs.shrink_to_fit();
  return std::move(schedule_);
}

Message ScheduleBuilder::message(Rank peer, std::span<const Run> blocks, bool last) {
  const auto first = static_cast<std::uint32_t>(schedule_.runs.size());
  for (const Run& run : blocks) schedule_.runs.push_back(run);
  return {peer, first, static_cast<std::uint32_t>(blocks.size()), last};
}

}  // namespace swapmeet
