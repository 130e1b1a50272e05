#include "mpi/coroutine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

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
char* map_memory() {
  void* const memory =
      mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  mprotect(memory, page_bytes, PROT_NONE);
  return static_cast<char*>(memory);
}

/// The stacks of the process: one for each coroutine that there was at a time, as far as there was memory. A body takes the
/// one that was used last, so that few hold more than addresses, and none is unmapped or emptied: UCX, below MPICH,
/// remembers each such stretch of addresses until it next registers memory, which may be never.
class Stacks {
 public:
  void expect() {
    const std::lock_guard guard(mutex_);
    if (++coroutines_ > stacks_) make();
  }

  void forget() {
    const std::lock_guard guard(mutex_);
    --coroutines_;
  }

  /// nullptr: there is none.
  char* take() {
    const std::lock_guard guard(mutex_);
    if (unused_.empty()) make();  // there was no memory before
    if (unused_.empty()) return nullptr;
    char* const memory = unused_.back();
    unused_.pop_back();
    return memory;
  }

  void give_back(char* memory) {
    const std::lock_guard guard(mutex_);
    unused_.push_back(memory);  // there is room
  }

 private:
  void make() {
    try {
      unused_.reserve(stacks_ + 1);
    } catch (const std::bad_alloc&) { return; }
    char* const memory = map_memory();
    if (!memory) return;
    unused_.insert(unused_.begin(), memory);  // those that hold memory go first
    ++stacks_;
  }

  std::mutex mutex_;
  std::size_t coroutines_ = 0, stacks_ = 0;
  std::vector<char*> unused_;  ///< the one that was used last is the last
};

/// Never destroyed: coroutines may be, after it would be.
Stacks& stacks() {
  static Stacks& all = *new Stacks;
  return all;
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

Coroutine::Coroutine() { stacks().expect(); }

Coroutine::~Coroutine() {
  give_back();
  stacks().forget();
}

void Coroutine::give_back() {
  stack_.reset();
  if (char* const memory = std::exchange(memory_, nullptr); memory && !give_spare_back(memory))
    stacks().give_back(memory);
}

bool Coroutine::begin(std::function<void()> body) {
  memory_ = stacks().take();
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
  give_back();
  body_ = nullptr;
  return true;
}

[[gnu::noinline]] void Coroutine::suspend() {
  Coroutine& self = *current;
  self.stack_->before_suspending();
  swapcontext(&self.inside_, &self.outside_);
  self.stack_->after_suspending();
}

}  // namespace swapmeet
