/// The notifications of the executor about a call: its phases, its steps and its messages.
#pragma once

#include <cstdint>
#include <span>

#include "mpi/mpi.hpp"
#include "observe/observer.hpp"

namespace swapmeet {

/// The notifications about a call, whether the call is observed or not.
class Watch {
 public:
  /// `observer`: nullptr if the call is not observed.
  explicit Watch(Observer* observer = nullptr) : observer_(observer) {}

  /// A scope in which the call is in the phase that was passed to during() or, last, to then(). At its end the phase
  /// before it resumes.
  class Span {
   public:
    Span(Observer* observer, CallPhase phase)
        : observer_(observer), before_(observer ? observer->enter(phase) : phase) {}
    ~Span() { then(before_); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    void then(CallPhase phase) const {
      if (observer_) observer_->enter(phase);
    }

   private:
    Observer* observer_;
    CallPhase before_;
  };
  [[nodiscard]] Span during(CallPhase phase) const { return {observer_, phase}; }

  /// Ends an iteration of a loop that waits. Its time counts as transfer if bytes have `moved`, else as the current
  /// phase.
  void turned(bool moved) const {
    if (!observer_) return;
    observer_->charge(moved ? CallPhase::transfer : observer_->phase());
    if (moved) observer_->moved();
  }

  /// Whether the end of each message must be reported at once, not only when all messages have ended.
  bool follows() const { return observer_ && observer_->call_state(); }

  // A message is identified by an address that no other message has until it is done.

  /// Sets the step of the schedule to which the next messages belong.
  void step(std::size_t index) const {
    if (Observer* const observer = listener()) [[unlikely]]
      observer->step(index);
  }
  void begins(const void* message, Direction direction, Rank peer, const Part& part, int tag) const {
    if (Observer* const observer = listener()) [[unlikely]]
      observer->message_begins(message, direction, peer, bytes_of(part), tag);
  }
  void begins(const void* message, Direction direction, Rank peer, std::size_t bytes, int tag) const {
    if (Observer* const observer = listener()) [[unlikely]]
      observer->message_begins(message, direction, peer, static_cast<std::int64_t>(bytes), tag);
  }
  /// `bytes`: size of the message, if begins() could not state it.
  void done(const void* message, std::int64_t bytes = CallEvent::as_begun) const {
    if (Observer* const observer = listener()) [[unlikely]]
      observer->message_is_done(message, bytes);
  }
  void done(std::span<const MPI_Request> messages) const {
    for (const MPI_Request& message : messages) done(&message);
  }
  /// The same as done(), with the number of bytes that were received, which may be less than the room for them.
  void received(std::span<const MPI_Request> messages, MPI_Status* statuses) const {
    if (Observer* const observer = listener()) [[unlikely]]
      for (const MPI_Request& message : messages) observer->message_is_done(&message, bytes_in(*statuses++));
  }

 private:
  [[gnu::always_inline]] Observer* listener() const { return observer_ && observer_->listens() ? observer_ : nullptr; }
  static std::int64_t bytes_of(const Part& part);
  static std::int64_t bytes_in(MPI_Status& status);

  Observer* observer_;
};

/// The interface of Watch without any effect, for calls that are known to be unobserved.
struct Unwatched {
  explicit Unwatched(Observer* = nullptr) {}

  struct Span {
    ~Span() {}
    void then(CallPhase) const {}
  };
  [[nodiscard]] Span during(CallPhase) const { return {}; }
  void turned(bool) const {}
  static constexpr bool follows() { return false; }
  void step(std::size_t) const {}
  void begins(const void*, Direction, Rank, const auto&, int) const {}
  void done(const auto&, std::int64_t = 0) const {}
  void received(const auto&, MPI_Status*) const {}
};

}  // namespace swapmeet
