/// The progress thread (SWAPMEET_NONBLOCKING=thread), which advances started exchanges while the application computes.
/// It naps between two attempts. It sleeps while nothing is under way, and naps longer while the application itself
/// advances everything in MPI calls.
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
  /// Makes the thread, which waits until begin() is called. It is made in MPI_Init, where the ranks can still agree to
  /// do without threads. Returns 0, or the errno value of the failure.
  int make();
  bool made() const { return thread_.joinable(); }

  /// Lets the thread begin its work, once all ranks are known to have one.
  void begin();

  /// Reports that there is something to advance, by calls of `advance`. Any thread; local.
  void wake(Advance advance);

  /// Ends the thread and waits for its end. Exchanges under way are then advanced by MPI calls only.
  void end();

  /// Whether the calling thread is a progress thread.
  static bool is_here();

  /// Counts an attempt to advance everything by another thread. The progress thread naps longer while there are such
  /// attempts.
  static void count_look();

 private:
  int work();
  bool wait_to_begin();
  void sleep(std::uint64_t woken);

  std::mutex mutex_;  ///< guards begun_, and changes of asleep_ and ends_
  std::condition_variable changed_;
  bool begun_ = false;
  std::atomic<bool> asleep_{false}, ends_{false};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<Advance> advance_{nullptr};
  std::thread thread_;
};

}  // namespace swapmeet
