/// The division of a call's time into phases: a clock that charges the time, and the notifications of the executor to
/// it. Off by default.
///
/// A call is in exactly one phase at any moment. A phase that begins within another replaces it until it ends. Each
/// reading of the clock ends one span and begins the next, so the phases add up to the time of the call, to the
/// nanosecond.
#pragma once

#include <swapmeet/swapmeet.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "observe/post.hpp"
#include "observe/trace.hpp"

namespace swapmeet {

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

/// The clock of the calls on one communicator. Used by one thread at a time.
class PhaseClock {
 public:
  /// Begin and end a call, which begins in the phase `other`. enter() begins another phase and returns the previous
  /// one.
  void begin();
  void end() { charge(phase_); }
  CallPhase enter(CallPhase phase) {
    charge(phase_);
    return std::exchange(phase_, phase);
  }

  /// Charges the time since the last reading to `phase`.
  void charge(CallPhase phase);
  CallPhase phase() const { return phase_; }

  /// Returns the times of all calls since the clock was made.
  const PhaseTimes& times() const { return times_; }

  /// Sets the trace in which calls are recorded from now on; nullptr: none.
  void record(Trace* trace) { trace_ = trace; }
  Trace* trace() const { return trace_; }

  /// Sets the post in which calls publish their progress; nullptr: none.
  void publish(Post* post) { post_ = post; }
  Post* post() const { return post_; }

  /// Whether notifications of steps and messages are needed.
  bool listens() const { return trace_ || post_; }
  void step(std::size_t index);
  void begins(const void* message, Direction direction, Rank peer, std::int64_t bytes, int tag);
  void done(const void* message, std::int64_t bytes);
  void moved() {
    if (post_) post_->moved();
  }

 private:
  PhaseTimes times_{};
  Trace::Time last_{};
  CallPhase phase_ = CallPhase::other;
  Trace* trace_ = nullptr;
  Post* post_ = nullptr;
};

/// The notifications of the executor about a call, whether the call is observed or not.
class Watch {
 public:
  /// `clock`: nullptr if the call is not observed.
  explicit Watch(PhaseClock* clock = nullptr) : clock_(clock) {}

  /// A scope in which the call is in the phase that was passed to during() or, last, to then(). At its end the phase
  /// before it resumes.
  class Span {
   public:
    Span(PhaseClock* clock, CallPhase phase) : clock_(clock), before_(clock ? clock->enter(phase) : phase) {}
    ~Span() { then(before_); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    void then(CallPhase phase) const {
      if (clock_) clock_->enter(phase);
    }

   private:
    PhaseClock* clock_;
    CallPhase before_;
  };
  [[nodiscard]] Span during(CallPhase phase) const { return {clock_, phase}; }

  /// Ends an iteration of a loop that waits. Its time counts as transfer if bytes have `moved`, else as the current
  /// phase.
  void turned(bool moved) const {
    if (!clock_) return;
    clock_->charge(moved ? CallPhase::transfer : clock_->phase());
    if (moved) clock_->moved();
  }

  /// Charges the time since the last reading to `phase`.
  void spent(CallPhase phase) const {
    if (clock_) clock_->charge(phase);
  }

  /// Whether the end of each message must be reported at once, not only when all messages have ended.
  bool follows() const { return clock_ && clock_->post(); }

  // Notifications for the trace and the watchdog. A message is identified by an address that no other message has until
  // it is done.

  /// Sets the step of the schedule to which the next messages belong.
  void step(std::size_t index) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      clock->step(index);
  }
  void begins(const void* message, Direction direction, Rank peer, const Part& part, int tag) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      clock->begins(message, direction, peer, bytes_of(part), tag);
  }
  void begins(const void* message, Direction direction, Rank peer, std::size_t bytes, int tag) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      clock->begins(message, direction, peer, static_cast<std::int64_t>(bytes), tag);
  }
  /// `bytes`: size of the message, if begins() could not state it.
  void done(const void* message, std::int64_t bytes = Trace::as_begun) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      clock->done(message, bytes);
  }
  void done(std::span<const MPI_Request> messages) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      for (const MPI_Request& message : messages) clock->done(&message, Trace::as_begun);
  }
  /// The same as done(), with the number of bytes that were received, which may be less than the room for them.
  void received(std::span<const MPI_Request> messages, MPI_Status* statuses) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      for (const MPI_Request& message : messages) clock->done(&message, bytes_in(*statuses++));
  }

 private:
  [[gnu::always_inline]] PhaseClock* listener() const { return clock_ && clock_->listens() ? clock_ : nullptr; }
  static std::int64_t bytes_of(const Part& part);
  static std::int64_t bytes_in(MPI_Status& status);

  PhaseClock* clock_;
};

/// The interface of Watch without any effect, for calls that are known to be unobserved.
struct Unwatched {
  explicit Unwatched(PhaseClock* = nullptr) {}

  struct Span {
    ~Span() {}
    void then(CallPhase) const {}
  };
  [[nodiscard]] Span during(CallPhase) const { return {}; }
  void turned(bool) const {}
  static constexpr bool follows() { return false; }
  void spent(CallPhase) const {}
  void step(std::size_t) const {}
  void begins(const void*, Direction, Rank, const auto&, int) const {}
  void done(const auto&, std::int64_t = 0) const {}
  void received(const auto&, MPI_Status*) const {}
};

}  // namespace swapmeet
