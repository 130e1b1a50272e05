/// ScheduleBuilder is the only way to make a schedule. It appends steps, copies and messages in the order in which they
/// are to start.
#pragma once

#include <utility>

#include "schedule/schedule.hpp"

namespace swapmeet {

inline Run sendblock(Rank destination) { return {Buffer::send, destination, 1, 1}; }
inline Run receiveblock(Rank source) { return {Buffer::receive, source, 1, 1}; }

class ScheduleBuilder {
 public:
  /// `head`: a schedule without steps, whose other members are those of the schedule to make.
  explicit ScheduleBuilder(Schedule head) : schedule_(std::move(head)) {}

  /// Reserves memory for `messages` messages in each direction, so that long schedules are made without reallocation.
  void reserve(std::size_t messages) { schedule_.reserve(messages); }

  /// Begins a step. The operations added next belong to it and are independent of one another.
  void step(std::int32_t window = 0, Completion completion = Completion::all,
            Posting posting = Posting::receives_first) {
    Step step;
    step.first_copy = static_cast<std::uint32_t>(schedule_.copies.size());
    step.first_send = static_cast<std::uint32_t>(schedule_.sends.size());
    step.first_receive = static_cast<std::uint32_t>(schedule_.receives.size());
    step.window = window;
    step.completion = completion;
    step.posting = posting;
    schedule_.steps.push_back(step);
  }

  /// Begins a step that consists of copies only.
  void copies(Purpose purpose) {
    step();
    schedule_.steps.back().purpose = purpose;
  }

  void copy(Run from, Run to) {
    schedule_.copies.push_back({from, to});
    ++schedule_.steps.back().copy_count;
  }

  /// Appends a message to the current step. For `last` see Message.
  void send(Rank to, std::span<const Run> blocks, bool last) {
    schedule_.sends.push_back(schedule_.message(to, blocks, last));
    ++schedule_.steps.back().send_count;
  }
  void receive(Rank from, std::span<const Run> blocks, bool last) {
    schedule_.receives.push_back(schedule_.message(from, blocks, last));
    ++schedule_.steps.back().receive_count;
  }

  /// Returns the schedule, which has this number of blocks of working memory. Its vectors are shrunk to their sizes,
  /// because plans keep schedules for long.
  Schedule finish(std::int32_t scratch_blocks) && {
    schedule_.scratch_blocks = scratch_blocks;
    schedule_.steps.shrink_to_fit();
    schedule_.copies.shrink_to_fit();
    schedule_.sends.shrink_to_fit();
    schedule_.receives.shrink_to_fit();
    schedule_.runs.shrink_to_fit();
    return std::move(schedule_);
  }

 private:
  Schedule schedule_;
};

}  // namespace swapmeet
