#include "mpi/progress_thread.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "mpi/thread.hpp"

namespace swapmeet {

namespace {

using Clock = std::chrono::steady_clock;

thread_local bool here = false;

std::atomic<std::uint64_t> looks{0};  ///< attempts of other threads; inexact if several count at a time

/// The pauses between two attempts. A pause is an eighth of the time since something moved, and at most 200 us. So an
/// event is noticed after at most 9/8 of the time that it took, or 200 us later, and the core is free most of the time.
class Naps {
 public:
  void moved() { begin_ = Clock::now(); }
  void next() {
    constexpr std::chrono::microseconds least{2};
    const auto nap = (Clock::now() - begin_) / 8;
    if (nap >= least) std::this_thread::sleep_for(std::min<Clock::duration>(nap, most));
  }
  void longest() { std::this_thread::sleep_for(most), moved(); }

 private:
  static constexpr std::chrono::microseconds most{200};
  Clock::time_point begin_{};
};

}  // namespace

bool ProgressThread::is_here() { return here; }

void ProgressThread::count_look() {
  if (!here) looks.store(looks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

int ProgressThread::make() {
  return make_thread(thread_, [this] { return work(); });
}

void ProgressThread::begin() {
  const std::lock_guard lock(mutex_);
  begun_ = true;
  changed_.notify_one();
}

void ProgressThread::wake(Advance advance) {
  advance_.store(advance, std::memory_order_relaxed);
  wakes_.fetch_add(1, std::memory_order_release);       // after advance_
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fence in sleep()
  if (!asleep_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  asleep_ = false;
  changed_.notify_one();
}

void ProgressThread::end() {
  if (!made()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    asleep_ = false;
    changed_.notify_one();
  }
  thread_.join();
}

bool ProgressThread::wait_to_begin() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return begun_ || ends_; });
  return !ends_;
}

/// Sleeps until wakes_ differs from `woken`. By the two fences, either wake() sees that the thread sleeps, or the
/// thread sees that wake() was called.
void ProgressThread::sleep(std::uint64_t woken) {
  std::unique_lock lock(mutex_);
  asleep_ = true;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (wakes_.load(std::memory_order_acquire) != woken) asleep_ = false;
  changed_.wait(lock, [this] { return !asleep_ || ends_; });
}

int ProgressThread::work() {
  // The number of idle naps before the thread sleeps. It does not sleep at once, because waking it takes the calling
  // thread longer than everything else in a start.
  constexpr int most_idle = 5;
  here = true;
  prctl(PR_SET_TIMERSLACK, 1000UL);  // in ns; with the default, naps are 50 us longer
  if (!wait_to_begin()) return MPI_SUCCESS;
  Naps naps;
  std::uint64_t looked = 0, woken = 0;
  for (int idle = most_idle; !ends_;) {
    if (idle == most_idle) {
      sleep(woken);
      idle = 0;
      continue;
    }
    const std::uint64_t before = std::exchange(looked, looks.load(std::memory_order_relaxed));
    if (looked != before) {
      naps.longest();
      continue;
    }
    const std::uint64_t known = std::exchange(woken, wakes_.load(std::memory_order_acquire));
    const AdvanceResult result = advance_.load(std::memory_order_relaxed)();
    if (result == AdvanceResult::idle) {
      naps.longest(), ++idle;
      continue;
    }
    idle = 0;
    if (woken != known || result == AdvanceResult::rested) naps.moved();
    look_for_messages();
    naps.next();
  }
  return MPI_SUCCESS;
}

}  // namespace swapmeet
