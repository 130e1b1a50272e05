/// The trace of one call on one rank: the first of its events. They are written into memory that was allocated before
/// the call. Further events are dropped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "observe/event.hpp"

namespace swapmeet {

struct Trace {
  static constexpr std::size_t most_events = std::size_t{1} << 16;  ///< maximum number of spans, and of other events

  Trace() { events.reserve(2 * most_events); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Returns the kept event; nullptr if it was dropped.
  CallEvent* add(const CallEvent& event) {
    std::size_t& kept = kept_[event.kind == CallEvent::Kind::span];
    if (kept == most_events) return ++dropped, nullptr;
    ++kept;
    return &events.emplace_back(event);
  }

  /// Adds the end of the span that began at `from_ns`, where the span before it ended. A waiting loop reads the clock
  /// often: a span of the same phase and step is made longer instead.
  void add_span(const CallEvent& span, std::int64_t from_ns) {
    end_ns = span.time_ns;
    if (from_ns == span.time_ns) return;
    const bool goes_on = last_ && last_->time_ns == from_ns && last_->phase == span.phase && last_->step == span.step;
    if (goes_on) last_->time_ns = span.time_ns;
    else last_ = add(span);
  }

  std::int64_t begin_ns = 0, end_ns = 0;  ///< of the call
  std::int64_t dropped = 0;               ///< number of events
  std::vector<CallEvent> events;

 private:
  std::size_t kept_[2] = {};
  CallEvent* last_ = nullptr;  ///< the last span, unless it was dropped
};

}  // namespace swapmeet
