/// Where the time of a call goes: a clock that charges it to phases, and what the executor says to it. Off by default.
///
/// At any moment a call is in one phase; one that begins within another takes over until it ends. Each reading of the
/// clock ends one span and begins the next, so the phases add up to the time of the call, to the nanosecond.
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

/// As in swapmeet.h.
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

/// Of the copies of a step.
constexpr CallPhase phase_of(Purpose purpose) {
  return purpose == Purpose::pack ? CallPhase::pack : purpose == Purpose::unpack ? CallPhase::unpack : CallPhase::copy;
}

/// By phase.
using PhaseTimes = std::array<std::chrono::nanoseconds, SWAPMEET_PHASES>;

/// Of the calls on one communicator. One thread at a time.
class PhaseClock {
 public:
  /// A call begins, with `other`; and ends. enter() begins another phase and returns the one before.
  void begin();
  void end() { charge(phase_); }
  CallPhase enter(CallPhase phase) {
    charge(phase_);
    return std::exchange(phase_, phase);
  }

  /// The time since the last reading was spent in `phase`.
  void charge(CallPhase phase);
  CallPhase phase() const { return phase_; }

  /// Since the clock was made.
  const PhaseTimes& times() const { return times_; }

  /// Where the calls are recorded from now on; nullptr: nowhere.
  void record(Trace* trace) { trace_ = trace; }
  Trace* trace() const { return trace_; }

  /// Where they publish what goes on; nullptr: nowhere.
  void publish(Post* post) { post_ = post; }
  Post* post() const { return post_; }

  /// Whether anybody wants to know of steps and messages.
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

/// What the executor tells of a call, where it may be that nobody listens.
class Watch {
 public:
  /// `clock`: nullptr if nobody does.
  explicit Watch(PhaseClock* clock = nullptr) : clock_(clock) {}

  /// As long as it lives, the call is in the phase that then() named last.
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

  /// A turn of a loop that waits is over: it was transfer if bytes have `moved`.
  void turned(bool moved) const {
    if (!clock_) return;
    clock_->charge(moved ? CallPhase::transfer : clock_->phase());
    if (moved) clock_->moved();
  }

  /// The time since the last reading was spent in `phase`.
  void spent(CallPhase phase) const {
    if (clock_) clock_->charge(phase);
  }

  /// Whether the end of each message is to be known when it comes, and not that of all when the last comes.
  bool follows() const { return clock_ && clock_->post(); }

  // For the trace and the watchdog. A message is known by an address that is its own until it is done.

  /// What comes belongs to this step of the schedule.
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
  /// `bytes`: if its beginning could not say.
  void done(const void* message, std::int64_t bytes = Trace::as_begun) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      clock->done(message, bytes);
  }
  void done(std::span<const MPI_Request> messages) const {
    if (PhaseClock* const clock = listener()) [[unlikely]]
      for (const MPI_Request& message : messages) clock->done(&message, Trace::as_begun);
  }
  /// The same of bytes received, for which there may have been more room.
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

/// The same where it is known that nobody listens: nothing.
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
