/// Who may want the cores of this host besides the ranks of one exchange: ranks of the job on other communicators or in
/// other containers, and further threads of each. Where there are more of them than cores, who waits cannot see all that
/// wait for its core.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace swapmeet {

/// Cores of this host.
inline std::int64_t processors() {
  static const long number = sysconf(_SC_NPROCESSORS_ONLN);  // which reads a file
  return number;
}

/// Ranks of the job on this host, as its launcher says; 1: it does not.
std::int64_t launched_here();

/// Of a process. Any thread may call anything.
class Oversubscription {
 public:
  /// `ranks`: of the job on these cores, as far as is known.
  explicit Oversubscription(std::int64_t cores, std::int64_t ranks = 1) : cores_(cores), ranks_(ranks) {}
  static Oversubscription& of_this_process();

  /// So many ranks of the job are on these cores, at least: on this host, or in other containers of its kernel.
  void has_ranks(std::int64_t number) {
    if (number > ranks_.load(std::memory_order_relaxed)) ranks_.store(number, std::memory_order_relaxed);
  }
  /// A thread of this process has been in a call that waits for a while; it goes on.
  void waits() {
    if (waiting_.fetch_add(1, std::memory_order_relaxed) > 0) [[unlikely]]
      has_threads_.store(true, std::memory_order_relaxed);
  }
  void goes_on() { waiting_.fetch_sub(1, std::memory_order_relaxed); }

  /// Whether several threads of this process have waited at a time, each for an exchange of its ranks: a thread that one
  /// waits for may be kept from its core by another, of another exchange, which does not see it.
  bool has_threads() const { return has_threads_.load(std::memory_order_relaxed); }

  /// Of an exchange of so many ranks: whether the job has more threads than there are cores; and whether some of them,
  /// then, take no part in it.
  bool shares_cores(std::int64_t ranks) const { return threads(ranks) > cores_; }
  bool has_unseen(std::int64_t ranks) const { return threads(ranks) > std::max(ranks, cores_); }

 private:
  /// That may want a core, if the other processes are as this one.
  std::int64_t threads(std::int64_t ranks) const {
    return std::max(ranks, ranks_.load(std::memory_order_relaxed)) *
           std::max<std::int64_t>(1, waiting_.load(std::memory_order_relaxed));
  }

  std::int64_t cores_;
  std::atomic<std::int64_t> ranks_, waiting_ = 0;
  std::atomic<bool> has_threads_ = false;
};

}  // namespace swapmeet
