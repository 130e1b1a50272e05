/// Code that waits for other ranks, in a place that must not wait: it is left in the middle, on a stack of its own, and
/// entered again there. For what is rare (setting up a communicator in the progress of the host MPI); an exchange itself
/// is resumed by the engine, which takes no stack.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <optional>

#include "mpi/stack_switch.hpp"

namespace swapmeet {

class Coroutine {
 public:
  /// `body` lets no exception out. Throws std::bad_alloc.
  explicit Coroutine(std::function<void()> body);
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  /// Goes on with the body until it suspends or is over. Returns whether it is over. Any thread, one at a time;
  /// also within another one.
  bool resume();

  /// Whether the caller is the body of one.
  static bool here();

  /// Leaves the body, for now.
  static void suspend();

 private:
  static void enter();

  std::function<void()> body_;
  char* memory_ = nullptr;  ///< of the stack, below which nothing can be written
  ucontext_t inside_{}, outside_{};
  bool over_ = false;
  std::optional<StackSwitch> stack_;
};

}  // namespace swapmeet
