/// Coroutines with stacks of their own. They execute code that waits for other ranks in a place that must not wait: the
/// code is suspended and later resumed where it was. They serve rare operations, such as setting up a communicator in
/// the progress of the host MPI (team/steps.hpp). Exchanges do not need them: the engine resumes an exchange without a
/// stack.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "mpi/stack_switch.hpp"

namespace swapmeet {

/// A coroutine that executes one body at a time, one after another. A rank without memory for a stack would keep the
/// other ranks waiting. So a stack is allocated for each coroutine when it is constructed, if there is memory, and a
/// few spare stacks exist for a rank without memory.
class Coroutine {
 public:
  Coroutine();
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  /// Prepares `body`, which resume() executes. `body` must let no exception out. Requires that no body is under way.
  /// Allocates no memory for a body of at most two pointers. Returns false if no stack is available now.
  [[nodiscard]] bool begin(std::function<void()> body);
  bool under_way() const { return body_ != nullptr; }

  /// Executes the body until it suspends or ends. Returns whether it has ended. Any thread may call it, one at a time,
  /// also from within the body of another coroutine.
  bool resume();

  /// Suspends the calling body: returns to the caller of resume().
  static void suspend();

 private:
  static void enter();
  void give_back();

  std::function<void()> body_;
  std::span<char> memory_;  ///< the stack, with a guard page at its lower end; empty if no body is under way
  ucontext_t inside_{}, outside_{};
  bool over_ = false;
  std::optional<StackSwitch> stack_;
};

}  // namespace swapmeet
