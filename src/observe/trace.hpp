/// What one rank did during one call, moment by moment; recorded into memory that was taken before the call.
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

  /// Time in a phase (CallPhase), in one step.
  struct Slice {
    Time begin, end;
    std::uint32_t step;
    std::uint8_t phase;
  };

  /// A message begins (its memory is handed over), or is done (its memory is ours again).
  struct Event {
    Time time;
    const void* message;  ///< its own as long as it is not done
    std::int64_t bytes;
    std::uint32_t step;
    Rank peer;
    std::int32_t tag;
    Direction direction;
    bool begins;
  };

  static constexpr std::uint32_t no_step = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::int64_t as_begun = -1;  ///< bytes of a message whose beginning said it
  /// slices; and events. More are dropped, and counted.
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
