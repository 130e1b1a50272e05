/// ScheduleBuilder is the only way to make a schedule. It appends steps, copies and messages in the order in which they
/// are to start.
#pragma once

#include <initializer_list>

#include "schedule/schedule.hpp"

namespace swapmeet {

inline Run sendblock(Rank destination) { return {Buffer::send, destination, 1, 1}; }
inline Run receiveblock(Rank source) { return {Buffer::receive, source, 1, 1}; }

class ScheduleBuilder {
 public:
  ScheduleBuilder(const Shape& shape, Rank rank);

  /// Reserves memory for `messages` messages in each direction, so that long schedules are made without reallocation.
  ScheduleBuilder& reserve(std::size_t messages);
  ScheduleBuilder& scratch(std::int32_t blocks);
  ScheduleBuilder& segments(std::int64_t bytes);
  ScheduleBuilder& neighbours(std::optional<Degrees> degrees);

  /// Begins a step. The operations added next belong to it and are independent of one another.
  ScheduleBuilder& step(std::int32_t window = 0, Completion completion = Completion::all,
                        Posting posting = Posting::receives_first);

  /// Begins a step that consists of copies only.
  ScheduleBuilder& copies(Purpose purpose);

  ScheduleBuilder& copy(Run from, Run to);
  /// Appends a message to the current step. For `last` see Message.
  ScheduleBuilder& send(Rank to, std::span<const Run> blocks, bool last = false);
  ScheduleBuilder& receive(Rank from, std::span<const Run> blocks, bool last = false);
  ScheduleBuilder& send(Rank to, Run blocks, bool last = false) { return send(to, {&blocks, 1}, last); }
  ScheduleBuilder& receive(Rank from, Run blocks, bool last = false) { return receive(from, {&blocks, 1}, last); }

  /// Returns the schedule with its vectors shrunk to their sizes, because plans keep schedules for long.
  Schedule finish() &&;

 private:
  Message message(Rank peer, std::span<const Run> blocks, bool last);
  Schedule schedule_;
};

}  // namespace swapmeet
