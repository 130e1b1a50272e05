#include "exchange/operations.hpp"

namespace swapmeet {

namespace {

/// The only run of `message` if its blocks lie side by side; otherwise nullptr.
const Run* row(const Schedule& schedule, const Message& message) {
  const Run& run = schedule.runs[message.first];
  return message.count == 1 && (run.stride == 1 || run.count == 1) ? &run : nullptr;
}

/// Whether `step` sends and receives the same number of messages, one at a time, all of contiguous blocks. It may have
/// copies, too.
bool swaps_rows(const Schedule& schedule, const Step& step) {
  if (step.send_count != step.receive_count || step.posting == Posting::granted) return false;
  if (step.completion != Completion::all || step.in_flight() != 1) return false;
  for (const auto& messages : {schedule.sends_of(step), schedule.receives_of(step)})
    for (const Message& message : messages)
      if (!row(schedule, message)) return false;
  return true;
}

}  // namespace

std::vector<Operation> operations_of(const Schedule& schedule, bool swaps) {
  std::vector<Operation> all;
  for (std::size_t index = 0; index < schedule.steps.size(); ++index) {
    const Step& step = schedule.steps[index];
    if (step.send_count + step.receive_count > 0 && (!swaps || !swaps_rows(schedule, step))) {
      all.push_back({.step = index});
      continue;
    }
    const auto sends = schedule.sends_of(step), receives = schedule.receives_of(step);
    for (const Copy& copy : schedule.copies_of(step))
      all.push_back({Operation::Kind::copy, copy.from, copy.to, 0, 0, index});
    for (std::size_t i = 0; i < sends.size(); ++i)
      all.push_back({Operation::Kind::swap, *row(schedule, sends[i]), *row(schedule, receives[i]), sends[i].peer,
                     receives[i].peer, index});
  }
  return all;
}

}  // namespace swapmeet
