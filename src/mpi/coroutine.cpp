#include "mpi/coroutine.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "mpi/signals.hpp"

namespace swapmeet {

namespace {

/// Of a stack, in addresses; memory only as far as it is used. The host MPI's progress may call the application, which
/// expects to have as much as a thread usually has; but where addresses are limited, hundreds of communicators would take
/// most of them.
constexpr std::size_t usual_bytes = std::size_t{8} << 20, least_bytes = std::size_t{512} << 10;
constexpr std::size_t most_usual = 8;                      ///< stacks of that size, where addresses have no limit
constexpr std::size_t page_bytes = std::size_t{64} << 10;  ///< the largest of any machine

thread_local Coroutine* current = nullptr;

/// For a rank that has no memory when a body begins (see buffers/reserve.cpp), one body at a time each. It takes none before it
/// is used.
struct Spare {
  alignas(4096) char memory[page_bytes + least_bytes];  // with larger pages nothing guards it
  std::atomic_flag taken;
};
std::array<Spare, 4> spares;

/// Whether the host MPI and the application may run out of addresses.
bool addresses_are_limited() {
  const auto limited = [](auto what) {
    rlimit limit{};
    return getrlimit(what, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
  };
  return limited(RLIMIT_AS) || limited(RLIMIT_DATA);
}

/// Empty: there is no memory.
std::span<char> map_memory(std::size_t bytes) {
  void* const memory = mmap(nullptr, page_bytes + bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return {};
  mprotect(memory, page_bytes, PROT_NONE);
  return {static_cast<char*>(memory), page_bytes + bytes};
}

/// The stacks of the process: one for each coroutine that there was at a time, as far as there was memory. A body takes the
/// one that was used last, a large one if there is, so that few hold more than addresses, and none is unmapped or emptied:
/// UCX, below MPICH, remembers each such stretch of addresses until it next registers memory, which may be never.
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

  /// Empty: there is none.
  std::span<char> take() {
    const std::lock_guard guard(mutex_);
    if (usual_.empty() && small_.empty()) make();  // there was no memory before
    std::vector<std::span<char>>& unused = usual_.empty() ? small_ : usual_;
    if (unused.empty()) return {};
    const std::span<char> memory = unused.back();
    unused.pop_back();
    return memory;
  }

  void give_back(std::span<char> memory) {
    const std::lock_guard guard(mutex_);
    unused(memory).push_back(memory);  // there is room
  }

 private:
  std::vector<std::span<char>>& unused(std::span<char> memory) { return memory.size() > usual_bytes ? usual_ : small_; }

  void make() {
    try {
      usual_.reserve(most_usual);
      small_.reserve(stacks_ + 1);
    } catch (const std::bad_alloc&) { return; }
    std::span<char> memory;
    if (stacks_ < most_usual && !addresses_are_limited()) memory = map_memory(usual_bytes);
    if (memory.empty()) memory = map_memory(least_bytes);
    if (memory.empty()) return;
    unused(memory).insert(unused(memory).begin(), memory);  // those that hold memory go first
    ++stacks_;
  }

  std::mutex mutex_;
  std::size_t coroutines_ = 0, stacks_ = 0;
  std::vector<std::span<char>> usual_, small_;  ///< unused, the one that was used last is the last
};

/// Never destroyed: coroutines may be, after it would be.
Stacks& stacks() {
  static Stacks& all = *new Stacks;
  return all;
}

std::span<char> take_spare() {
  for (Spare& spare : spares) {
    if (spare.taken.test_and_set()) continue;
    mprotect(spare.memory, page_bytes, PROT_NONE);
    return spare.memory;
  }
  return {};
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
  if (const auto memory = std::exchange(memory_, {}); !memory.empty() && !give_spare_back(memory.data()))
    stacks().give_back(memory);
}

bool Coroutine::begin(std::function<void()> body) {
  memory_ = stacks().take();
  if (memory_.empty()) memory_ = take_spare();
  if (memory_.empty()) return false;
  body_ = std::move(body);
  over_ = false;
  getcontext(&inside_);
  inside_.uc_sigmask = left_to_application();  // as resume() has it
  const std::span<char> usable = memory_.subspan(page_bytes);
  inside_.uc_stack.ss_sp = usable.data();
  inside_.uc_stack.ss_size = usable.size();
  inside_.uc_link = &outside_;
  makecontext(&inside_, enter, 0);
  stack_.emplace(usable.data(), usable.size());
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

// Handlers of the application expect a stack of the usual size, and a thread of its own. swapcontext() changes the mask before it
// leaves a stack: so the same signals are blocked on both sides of it.
[[gnu::noinline]] bool Coroutine::resume() {
  const sigset_t blocked = left_to_application();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  Coroutine* const outer = std::exchange(current, this);
  stack_->before_resuming();
  swapcontext(&outside_, &inside_);
  stack_->after_resuming();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
