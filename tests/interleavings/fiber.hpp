/// A thread of a program under test: code on a stack of its own, which is left where it accesses shared memory and goes on
/// when it is its turn; and which can begin anew, whatever it was doing. Switching takes no system call.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <functional>
#include <memory>

class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Begins anew: what it was doing is forgotten, without destructors. `body` lets no exception out.
  void restart(std::function<void()> body);

  /// Goes on until the next leave(). Returns whether the body is over.
  bool resume();

  /// To be called by its body.
  void leave();

 private:
  static void enter(unsigned high, unsigned low);
  void serve();

  static constexpr std::size_t stack_bytes = 256 << 10;
  std::unique_ptr<char[]> stack_;
  std::function<void()> body_;
  bool over_ = true;
  ucontext_t begin_{}, outside_begin_{};
  jmp_buf base_, outside_, inside_;
  jmp_buf* next_ = nullptr;
};
