/// The observer of the calls on one communicator: a clock that divides the time of each call into phases, the trace of
/// a call, and the state of the calls, which the watchdog reads. The caller reports each event once, to a function of this class. Off by
/// default.
///
/// A call is in exactly one phase at any moment. A phase that begins within another replaces it until it ends. Each
/// reading of the clock ends one span and begins the next, so the phases add up to the time of the call, to the
/// nanosecond.
#pragma once

#include <swapmeet/swapmeet.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "observe/call_state.hpp"
#include "observe/trace.hpp"

namespace swapmeet {

struct Tally;

/// The phases, with the values of swapmeet.h.
enum class CallPhase : std::uint8_t {
  pack = SWAPMEET_PHASE_PACK,
  transfer = SWAPMEET_PHASE_TRANSFER,
  wait = SWAPMEET_PHASE_WAIT,
  unpack = SWAPMEET_PHASE_UNPACK,
  copy = SWAPMEET_PHASE_COPY,
  metadata = SWAPMEET_PHASE_METADATA,
  native = SWAPMEET_PHASE_NATIVE,
  other = SWAPMEET_PHASE_OTHER,
};

inline constexpr std::array<std::string_view, SWAPMEET_PHASES> phase_names = {"pack", "transfer", "wait",   "unpack",
                                                                              "copy", "metadata", "native", "other"};

/// Returns the phase of copies with this purpose.
constexpr CallPhase phase_of(Purpose purpose) {
  return purpose == Purpose::pack ? CallPhase::pack : purpose == Purpose::unpack ? CallPhase::unpack : CallPhase::copy;
}

/// Times, indexed by CallPhase.
using PhaseTimes = std::array<std::chrono::nanoseconds, SWAPMEET_PHASES>;

/// Returns the time by the monotonic clock in nanoseconds.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Used by one thread at a time.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // --- the events of a call, in their order

  /// The call begins in the phase `other`. `bytes_sent`: by this rank, if known.
  void call_begins(Collective collective, std::uint64_t bytes_sent = 0);
  /// The algorithm is chosen. Requires call_state(), without which nobody needs to know.
  void call_decided(const Tally& tally, std::uint64_t bytes_sent, Doing now);
  void call_goes_to_host();
  /// Stops the clock and returns the time of the call by phase. call_ends() follows.
  PhaseTimes stop();
  void call_ends();

  // --- the events of its execution, reported by Watch (observe/phases.hpp)

  /// Begins another phase and returns the previous one.
  CallPhase enter(CallPhase phase) {
    charge(phase_);
    return std::exchange(phase_, phase);
  }
  CallPhase phase() const { return phase_; }
  /// Charges the time since the last reading of the clock to `phase`.
  void charge(CallPhase phase);

  /// Whether events of steps and messages are needed.
  bool listens() const { return trace_ || call_state_; }
  void step(std::size_t index);
  void message_begins(const void* message, Direction direction, Rank peer, std::int64_t bytes, int tag);
  void message_is_done(const void* message, std::int64_t bytes);
  void moved() {
    if (call_state_) call_state_->moved();
  }

  // --- the uses of the events

  /// Must be called around a sequence of calls. end() returns their time by phase; nullopt without begin().
  void begin() { begun_ = times_; }
  std::optional<PhaseTimes> end();
  bool begun() const { return begun_.has_value(); }

  /// Publishes the calls in `state` from now on.
  void publish(OwnCallState state) { call_state_ = std::move(state); }
  /// Where the calls are published; nullptr: they are not watched.
  CallState* call_state() const { return call_state_.get(); }

  /// Records the next call, or the current one, in `trace`, which will be written to `file` (on rank 0; nullptr
  /// elsewhere). The observer owns both until written().
  void record(std::unique_ptr<Trace> trace, std::FILE* file);
  const std::unique_ptr<Trace>& trace() const { return trace_; }
  std::FILE* file() const { return file_.get(); }
  /// Stops recording, and closes the file. Returns "" or the problem.
  std::string written();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  PhaseTimes times_{};        ///< of all calls so far
  std::int64_t last_ns_ = 0;  ///< the last reading of the clock
  CallPhase phase_ = CallPhase::other;
  std::uint32_t step_ = CallEvent::no_step;
  PhaseTimes before_{};  ///< times_ at the beginning of the call
  std::optional<PhaseTimes> begun_;
  OwnCallState call_state_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace swapmeet
