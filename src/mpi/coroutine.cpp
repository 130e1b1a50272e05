#include "mpi/coroutine.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace swapmeet {

namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10;  ///< of addresses; memory only as far as it is used

thread_local Coroutine* current = nullptr;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Coroutine::Coroutine(std::function<void()> body) : body_(std::move(body)) {
  const std::size_t guard = page_bytes();
  void* const memory = mmap(nullptr, guard + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  mprotect(memory_, guard, PROT_NONE);
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = memory_ + guard;
  inside_.uc_stack.ss_size = stack_bytes;
  inside_.uc_link = &outside_;
  makecontext(&inside_, enter, 0);
  stack_.emplace(inside_.uc_stack.ss_sp, stack_bytes);
}

Coroutine::~Coroutine() {
  stack_.reset();
  munmap(memory_, page_bytes() + stack_bytes);
}

// Not inlined: the thread may be another one afterwards, and with it where `current` is.
[[gnu::noinline]] bool Coroutine::here() { return current != nullptr; }

SWAPMEET_CHANGES_STACKS void Coroutine::enter() {
  Coroutine& self = *current;
  self.stack_->begin();
  self.body_();
  self.over_ = true;
  self.stack_->end();
}

[[gnu::noinline]] bool Coroutine::resume() {
  Coroutine* const outer = std::exchange(current, this);
  stack_->before_resuming();
  swapcontext(&outside_, &inside_);
  stack_->after_resuming();
  current = outer;
  return over_;
}

[[gnu::noinline]] void Coroutine::suspend() {
  Coroutine& self = *current;
  self.stack_->before_suspending();
  swapcontext(&self.inside_, &self.outside_);
  self.stack_->after_suspending();
}

}  // namespace swapmeet
