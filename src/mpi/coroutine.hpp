/// Code that waits for other ranks, in a place that must not wait: it is left in the middle, on a stack of its own, and
/// entered again there. For what is rare (setting up a communicator in the progress of the host MPI); an exchange itself
/// is resumed by the engine, which takes no stack.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "mpi/stack_switch.hpp"

namespace swapmeet {

/// One body after another. A rank without memory for a stack would keep those waiting that have theirs, so there is one for
/// each coroutine before a body begins, if there can be, and some for a rank that has none.
class Coroutine {
 public:
  Coroutine();
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  /// `body` is what resume() begins with; it lets no exception out. Requires that none is under way. Takes no memory for
  /// a body of two pointers. False: there is no stack now.
  [[nodiscard]] bool begin(std::function<void()> body);
  bool under_way() const { return body_ != nullptr; }

  /// Goes on with the body until it suspends or is over. Returns whether it is over. Any thread, one at a time;
  /// also within another one.
  bool resume();

  /// Whether the caller is the body of one.
  static bool here();

  /// Leaves the body, for now.
  static void suspend();

 private:
  static void enter();
  void give_back();

  std::function<void()> body_;
  std::span<char> memory_;  ///< of the stack, the lower end of which cannot be written; empty: no body is under way
  ucontext_t inside_{}, outside_{};
  bool over_ = false;
  std::optional<StackSwitch> stack_;
};

}  // namespace swapmeet
