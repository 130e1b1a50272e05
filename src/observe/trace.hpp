/// The trace of one call on one rank: spans of time in phases, and events of messages. It is recorded into memory that
/// was allocated before the call.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

enum class Direction : std::uint8_t { send, receive };

class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// A span of time in one phase (CallPhase) and one step.
  struct Slice {
    Time begin, end;
    std::uint32_t step;
    std::uint8_t phase;
  };

  /// The beginning of a message, when its buffer is passed to MPI, or its end, when the buffer may be used again.
  struct Event {
    Time time;
    const void* message;  ///< address that no other message has until it is done
    std::int64_t bytes;
    std::uint32_t step;
    Rank peer;
    std::int32_t tag;
    Direction direction;
    bool begins;
  };

  static constexpr std::uint32_t no_step = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::int64_t as_begun = -1;  ///< size of a message that was stated at its beginning
  /// maximum number of slices, and of events; further ones are dropped and counted
  static constexpr std::size_t most_records = std::size_t{1} << 16;

  Trace() {
    slices_.reserve(most_records);
    events_.reserve(most_records);
  }

  void call_begins(Time now) { begin_ = now; }
  void step(std::size_t index) { step_ = static_cast<std::uint32_t>(index); }
  void spent(std::uint8_t phase, Time from, Time to);
  void begins(const void* message, Direction direction, Rank peer, std::int64_t bytes, int tag);
  void done(const void* message, std::int64_t bytes);

  Time begin() const { return begin_; }
  Time end() const { return end_; }
  std::int64_t dropped() const { return dropped_; }
  std::vector<Slice>& slices() { return slices_; }
  std::vector<Event>& events() { return events_; }

 private:
  void add(const Event& event);

  Time begin_{}, end_{};
  std::uint32_t step_ = no_step;
  std::int64_t dropped_ = 0;
  std::vector<Slice> slices_;
  std::vector<Event> events_;
};

}  // namespace swapmeet
