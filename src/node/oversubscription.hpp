/// An estimate of the threads that compete for the cores of this host besides the ranks of one exchange: ranks of the
/// job on other communicators or in other containers, and further threads of each rank. If there are more threads than
/// cores, a waiting rank cannot see all threads that wait for its core.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace swapmeet {

/// Number of online cores of this host.
inline std::int64_t processors() {
  static const long number = sysconf(_SC_NPROCESSORS_ONLN);  // the call reads a file
  return number;
}

/// Number of ranks of the job on this host, as its launcher says; 1 if it does not.
std::int64_t launched_here();

/// The estimate of one process. Any thread may call any function.
class Oversubscription {
 public:
  /// `ranks`: number of ranks of the job on these cores, as far as known.
  explicit Oversubscription(std::int64_t cores, std::int64_t ranks = 1) : cores_(cores), ranks_(ranks) {}
  static Oversubscription& of_this_process();

  /// Records that at least `number` ranks of the job are on these cores: on this host, or in other containers of its
  /// kernel.
  void has_ranks(std::int64_t number) {
    if (number > ranks_.load(std::memory_order_relaxed)) ranks_.store(number, std::memory_order_relaxed);
  }
  /// Records that a thread of this process has been waiting in a call for a while. goes_on() records the end of that.
  void waits() {
    if (waiting_.fetch_add(1, std::memory_order_relaxed) > 0) [[unlikely]]
      has_threads_.store(true, std::memory_order_relaxed);
  }
  void goes_on() { waiting_.fetch_sub(1, std::memory_order_relaxed); }

  /// Whether several threads of this process have waited at the same time, each in an exchange of its own. A late
  /// thread may then be kept from its core by a thread of another exchange, and ranks of one exchange do not see that.
  bool has_threads() const { return has_threads_.load(std::memory_order_relaxed); }

  /// shares_cores(): whether the job has more threads than there are cores. has_unseen(): whether, in addition, some of
  /// these threads take no part in an exchange of `ranks` ranks.
  bool shares_cores(std::int64_t ranks) const { return threads(ranks) > cores_; }
  bool has_unseen(std::int64_t ranks) const { return threads(ranks) > std::max(ranks, cores_); }

 private:
  /// Estimated number of threads that compete for cores, if the other processes are like this one.
  std::int64_t threads(std::int64_t ranks) const {
    return std::max(ranks, ranks_.load(std::memory_order_relaxed)) *
           std::max<std::int64_t>(1, waiting_.load(std::memory_order_relaxed));
  }

  std::int64_t cores_;
  std::atomic<std::int64_t> ranks_, waiting_ = 0;
  std::atomic<bool> has_threads_ = false;
};

}  // namespace swapmeet
