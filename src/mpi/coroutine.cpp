#include "mpi/coroutine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace swapmeet {

namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10;  ///< of addresses; memory only as far as it is used
constexpr std::size_t page_bytes = std::size_t{64} << 10;    ///< the largest of any machine
constexpr std::size_t all_bytes = page_bytes + stack_bytes;

thread_local Coroutine* current = nullptr;

/// For a rank that has no memory when a body begins (see buffers/reserve.cpp), one body at a time each. It takes none before it
/// is used.
struct Spare {
  alignas(4096) char memory[all_bytes];  // with larger pages nothing guards it
  std::atomic_flag taken;
};
std::array<Spare, 4> spares;

/// nullptr: there is no memory.
char* take_memory() {
  void* const memory =
      mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  mprotect(memory, page_bytes, PROT_NONE);
  return static_cast<char*>(memory);
}

char* take_spare() {
  for (Spare& spare : spares) {
    if (spare.taken.test_and_set()) continue;
    mprotect(spare.memory, page_bytes, PROT_NONE);
    return spare.memory;
  }
  return nullptr;
}

/// Whether it is a spare, which is given back.
bool give_spare_back(const char* memory) {
  const auto spare = std::ranges::find(spares, memory, [](const Spare& one) -> const char* { return one.memory; });
  if (spare == spares.end()) return false;
  spare->taken.clear();
  return true;
}

}  // namespace

Coroutine::Coroutine() : memory_(take_memory()) {}

Coroutine::~Coroutine() {
  stack_.reset();
  if (memory_ && !give_spare_back(memory_)) munmap(memory_, all_bytes);
}

bool Coroutine::begin(std::function<void()> body) {
  if (!memory_) memory_ = take_memory();
  if (!memory_) memory_ = take_spare();
  if (!memory_) return false;
  body_ = std::move(body);
  over_ = false;
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = memory_ + page_bytes;
  inside_.uc_stack.ss_size = stack_bytes;
  inside_.uc_link = &outside_;
  makecontext(&inside_, enter, 0);
  stack_.emplace(inside_.uc_stack.ss_sp, stack_bytes);
  return true;
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
  if (give_spare_back(memory_)) memory_ = nullptr;
  else madvise(memory_ + page_bytes, stack_bytes, MADV_DONTNEED);  // a communicator is to hold none between bodies
  return true;
}

[[gnu::noinline]] void Coroutine::suspend() {
  Coroutine& self = *current;
  self.stack_->before_suspending();
  swapcontext(&self.inside_, &self.outside_);
  self.stack_->after_suspending();
}

}  // namespace swapmeet
