#include "fiber.hpp"

#include <cstdint>
#include <utility>

Fiber::Fiber() : stack_(new char[stack_bytes]) {
  getcontext(&begin_);
  begin_.uc_stack.ss_sp = stack_.get();
  begin_.uc_stack.ss_size = stack_bytes;
  begin_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&begin_, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(std::uint64_t{self} >> 32),
              static_cast<unsigned>(self));
  swapcontext(&outside_begin_, &begin_);  // to the base, once
}

void Fiber::enter(unsigned high, unsigned low) {
  reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(std::uint64_t{high} << 32 | low))->serve();
}

/// The frame to which every restart() returns.
void Fiber::serve() {
  if (_setjmp(base_) == 0) setcontext(&outside_begin_);
  body_();
  over_ = true;
  _longjmp(outside_, 1);
}

void Fiber::restart(std::function<void()> body) {
  body_ = std::move(body);
  over_ = false;
  next_ = &base_;
}

bool Fiber::resume() {
  if (_setjmp(outside_) == 0) _longjmp(*next_, 1);
  return over_;
}

void Fiber::leave() {
  next_ = &inside_;
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}
