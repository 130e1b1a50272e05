/// A thread that advances what the application has started, while that computes: SWAPMEET_NONBLOCKING=thread. It sleeps
/// between looks, as long as nothing is under way, and while the application advances everything itself in MPI.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "mpi/progress.hpp"

namespace swapmeet {

class ProgressThread {
 public:
  /// Makes it, in MPI_Init, where ranks can still agree on doing without. Until begin() it waits. Returns 0, or why there can be no
  /// thread.
  int make();
  bool made() const { return thread_.joinable(); }

  /// All ranks have one.
  void begin();

  /// There is something to advance, by `advance`. Any thread; local.
  void wake(Advance advance);

  /// Waits for its end. After that others advance what is under way.
  void end();

  /// Whether the caller is such a thread.
  static bool is_here();

  /// To be called by whatever advances everything: the thread may sleep meanwhile.
  static void count_look();

 private:
  int work();
  bool wait_to_begin();
  void sleep(std::uint64_t woken);

  std::mutex mutex_;  ///< guards begun_, and changes of what follows
  std::condition_variable changed_;
  bool begun_ = false;
  std::atomic<bool> asleep_{false}, ends_{false};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<Advance> advance_{nullptr};
  std::thread thread_;
};

}  // namespace swapmeet
