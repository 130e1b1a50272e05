/// A thread that is made in MPI_Init, where ranks can still agree on doing without threads, and that the first worker
/// takes: no limit that is reached later refuses it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace swapmeet {

class FirstThread {
 public:
  /// Makes it. Until met() it waits, and says `late` if that takes 20 s. Returns 0, or why there can be no thread.
  int make(std::string late);
  bool made() const { return thread_.joinable(); }
  void met();

  /// Has it do `work`, which returns an error that nobody gets. The thread is the caller's then; none: it was taken, or
  /// could not be made.
  std::thread take(std::function<int()> work);

  /// Ends it, if nobody has taken it.
  void end();

 private:
  int wait(const std::string& late);

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_;
  bool met_ = false, ends_ = false;
  std::function<int()> work_;
  std::thread thread_;
};

}  // namespace swapmeet
