#include "mpi/coroutine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <utility>

namespace swapmeet {

namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10;  ///< of addresses; memory only as far as it is used
constexpr std::size_t page_bytes = std::size_t{64} << 10;    ///< the largest of any machine
constexpr std::size_t all_bytes = page_bytes + stack_bytes;

thread_local Coroutine* current = nullptr;

/// For a rank that has no memory when it begins something together with others (see buffers/reserve.cpp). It takes none before
/// it is used.
struct Spare {
  alignas(4096) char memory[all_bytes];  // with larger pages nothing guards it
  std::atomic_flag taken;
};
std::array<Spare, 2> spares;

char* take_memory() {
  void* const memory =
      mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory != MAP_FAILED) return static_cast<char*>(memory);
  for (Spare& spare : spares)
    if (!spare.taken.test_and_set()) return spare.memory;
  throw std::bad_alloc();
}

void give_back(char* memory) {
  const auto spare = std::ranges::find(spares, memory, [](Spare& one) -> char* { return one.memory; });
  if (spare == spares.end()) munmap(memory, all_bytes);
  else spare->taken.clear();
}

}  // namespace

Coroutine::Coroutine() : memory_(take_memory()) { mprotect(memory_, page_bytes, PROT_NONE); }

Coroutine::~Coroutine() {
  stack_.reset();
  give_back(memory_);
}

void Coroutine::begin(std::function<void()> body) {
  body_ = std::move(body);
  over_ = false;
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = memory_ + page_bytes;
  inside_.uc_stack.ss_size = stack_bytes;
  inside_.uc_link = &outside_;
  makecontext(&inside_, enter, 0);
  stack_.emplace(inside_.uc_stack.ss_sp, stack_bytes);
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
  if (!over_) return false;
  stack_.reset();
  body_ = nullptr;
  madvise(memory_ + page_bytes, stack_bytes, MADV_DONTNEED);  // a communicator is to hold none of it between bodies
  return true;
}

[[gnu::noinline]] void Coroutine::suspend() {
  Coroutine& self = *current;
  self.stack_->before_suspending();
  swapcontext(&self.inside_, &self.outside_);
  self.stack_->after_suspending();
}

}  // namespace swapmeet
