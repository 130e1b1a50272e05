/// The record of an event in a call. The executor reports each event once (observe/phases.hpp), and the observer of the
/// calls on the communicator writes one record of it: the trace keeps the first events of one call (observe/trace.hpp),
/// and the watchdogs read the beginnings of the messages in flight (observe/call_state.hpp).
///
/// Three uses need no records, because records would be lost when memory for them is full. The times by phase
/// (observe/observer.hpp) and the statistics (observe/statistics.hpp) are sums over all calls, and a recording
/// (observe/record.hpp) describes every kind of call. They keep counters that never grow.
#pragma once

#include <cstdint>
#include <limits>

#include "schedule/schedule.hpp"

namespace swapmeet {

enum class Direction : std::uint8_t { send, receive };

/// The end of a span of time in one phase, or the beginning or the end of a message. A message begins when its buffer
/// is passed to MPI or to a node peer, and ends when the buffer may be used again. Sent as raw bytes.
struct CallEvent {
  enum class Kind : std::uint8_t { span, begins, done };

  static constexpr std::uint32_t no_step = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::int64_t as_begun = -1;  ///< size of a message that was stated at its beginning

  std::int64_t time_ns = 0;   ///< by the monotonic clock; 0 if the call is not traced
  std::int64_t bytes = 0;     ///< of the message, if known
  std::uint64_t message = 0;  ///< address that no other message has until it is done
  std::uint32_t step = no_step;
  Rank peer = 0;
  std::int32_t tag = 0;
  Kind kind = Kind::span;
  Direction direction = Direction::send;
  std::uint8_t phase = 0;  ///< CallPhase of the span
  std::uint8_t unused = 0;
};
static_assert(sizeof(CallEvent) % sizeof(std::int64_t) == 0);

}  // namespace swapmeet
