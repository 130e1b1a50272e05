#include "mpi/coroutine.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "mpi/signals.hpp"

namespace swapmeet {

namespace {

/// Sizes of stacks, in bytes of address space; memory is taken only for the pages that are used. The host MPI's
/// progress may call the application, which expects a stack as large as a thread usually has. If the address space is
/// limited, stacks are small, because those of hundreds of communicators would take most of it.
constexpr std::size_t usual_bytes = std::size_t{8} << 20, least_bytes = std::size_t{512} << 10;
constexpr std::size_t most_usual = 8;                      ///< stacks of usual_bytes, if addresses are not limited
constexpr std::size_t page_bytes = std::size_t{64} << 10;  ///< the largest page size of any machine

thread_local Coroutine* current = nullptr;

/// Spare stacks for ranks that have no memory when a body begins (see buffers/reserve.cpp). They take no memory before
/// they are used. Machines with larger pages have no guard pages here.
alignas(4096) char spares[4][page_bytes + least_bytes];

/// Whether the address space of the process is limited, so that the host MPI and the application may run out of it.
bool addresses_are_limited() {
  const auto limited = [](auto what) {
    rlimit limit{};
    return getrlimit(what, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
  };
  return limited(RLIMIT_AS) || limited(RLIMIT_DATA);
}

/// Maps a stack of `bytes` bytes with a guard page. Returns an empty span if there is no memory.
std::span<char> map_memory(std::size_t bytes) {
  void* const memory = mmap(nullptr, page_bytes + bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return {};
  mprotect(memory, page_bytes, PROT_NONE);
  return {static_cast<char*>(memory), page_bytes + bytes};
}

/// The stacks of the process: as many as there were coroutines at a time, if there was memory. A body takes the stack
/// that was used last, and prefers a large one, so that few stacks hold memory besides addresses. A spare one is used
/// last. No stack is unmapped or emptied: UCX, below MPICH, records each unmapped range of addresses until it next
/// registers memory, which may be never.
class Stacks {
 public:
  Stacks() {
    unused_[spare].reserve(std::size(spares));
    for (auto& memory : spares) {
      mprotect(memory, page_bytes, PROT_NONE);
      unused_[spare].emplace_back(memory);
    }
  }

  /// Counts one more coroutine, and makes a stack if there are too few.
  void expect() {
    const std::lock_guard guard(mutex_);
    if (++coroutines_ > stacks_) make();
  }

  /// Counts one coroutine less.
  void forget() {
    const std::lock_guard guard(mutex_);
    --coroutines_;
  }

  /// Takes a stack. Returns an empty span if there is none.
  std::span<char> take() {
    const std::lock_guard guard(mutex_);
    if (unused_[usual].empty() && unused_[small].empty()) make();  // a stack is missing if there was no memory before
    for (std::vector<std::span<char>>& unused : unused_) {
      if (unused.empty()) continue;
      const std::span<char> memory = unused.back();
      unused.pop_back();
      return memory;
    }
    return {};
  }

  void give_back(std::span<char> memory) {
    const std::lock_guard guard(mutex_);
    const auto place = reinterpret_cast<std::uintptr_t>(memory.data()) - reinterpret_cast<std::uintptr_t>(spares);
    const Kind kind = place < sizeof spares ? spare : memory.size() > usual_bytes ? usual : small;
    unused_[kind].push_back(memory);  // there is room for it
  }

 private:
  enum Kind : std::uint8_t { usual, small, spare };

  void make() {
    try {
      unused_[usual].reserve(most_usual);
      unused_[small].reserve(stacks_ + 1);
    } catch (const std::bad_alloc&) { return; }
    std::span<char> memory;
    if (stacks_ < most_usual && !addresses_are_limited()) memory = map_memory(usual_bytes);
    const Kind kind = memory.empty() ? small : usual;
    if (memory.empty()) memory = map_memory(least_bytes);
    if (memory.empty()) return;
    unused_[kind].insert(unused_[kind].begin(), memory);  // taken last, after stacks that already hold memory
    ++stacks_;
  }

  std::mutex mutex_;
  std::size_t coroutines_ = 0, stacks_ = 0;
  std::vector<std::span<char>> unused_[3];  ///< unused stacks of each kind, the most recently used one last
};

/// The stacks of the process. They are never destroyed, because coroutines may be destroyed later.
Stacks& stacks() {
  static Stacks& all = *new Stacks;
  return all;
}

}  // namespace

Coroutine::Coroutine() { stacks().expect(); }

Coroutine::~Coroutine() {
  give_back();
  stacks().forget();
}

void Coroutine::give_back() {
  stack_.reset();
  if (const auto memory = std::exchange(memory_, {}); !memory.empty()) stacks().give_back(memory);
}

bool Coroutine::begin(std::function<void()> body) {
  memory_ = stacks().take();
  if (memory_.empty()) return false;
  body_ = std::move(body);
  over_ = false;
  getcontext(&inside_);
  const std::span<char> usable = memory_.subspan(page_bytes);
  inside_.uc_stack.ss_sp = usable.data();
  inside_.uc_stack.ss_size = usable.size();
  inside_.uc_link = &outside_;
  makecontext(&inside_, enter, 0);
  stack_.emplace(usable.data(), usable.size());
  return true;
}

// Functions that read `current` are not inlined: after a suspension the body may run in another thread, in which
// `current` has another address.
SWAPMEET_CHANGES_STACKS void Coroutine::enter() {
  Coroutine& self = *current;
  self.stack_->begin();
  self.body_();
  self.over_ = true;
  self.stack_->end();
}

// Signals are blocked while a body runs, because signal handlers of the application expect a stack of the usual size
// and a thread of the application. What the thread itself has blocked stays blocked, too. swapcontext() changes the mask
// before it changes the stack, so the same signals are blocked on both sides of it.
[[gnu::noinline]] bool Coroutine::resume() {
  const sigset_t blocked = left_to_application();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  sigorset(&inside_.uc_sigmask, &blocked, &before);
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
