/// What the application has started and not completed, all of it in the process. It moves on in the host MPI's progress
/// where that calls others, and in our own calls that wait.
#pragma once

#include <sched.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/progress.hpp"
#include "node/node_peers.hpp"

namespace swapmeet {

/// A lock that its own thread may try to take again (and does not get): the host MPI's progress may come to us from
/// calls that we make ourselves.
class TryMutex {
 public:
  bool try_lock() { return !taken_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) sched_yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

class Ongoing {
 public:
  Ongoing() = default;
  virtual ~Ongoing() = default;
  Ongoing(const Ongoing&) = delete;
  Ongoing& operator=(const Ongoing&) = delete;

  virtual bool under_way() const = 0;

  /// Does what can be done without waiting. Lets no exception out.
  virtual void advance() = 0;

  /// Whether it may be advanced in the progress of the host MPI: see progress_is_locked().
  virtual bool goes_on_in_progress() const { return true; }

  /// Nothing could be done: lets others have the core if one of them is awaited there; waits a moment if not.
  enum class Rest : std::uint8_t { unknown, waited, yielded };
  virtual Rest rest() { return Rest::unknown; }

  TryMutex& mutex() { return mutex_; }  ///< guards all of it

 protected:
  /// nullptr: all goes by MPI.
  static Rest rest_with(NodePeers* node_peers) {
    if (!node_peers) return Rest::unknown;
    return node_peers->rest() ? Rest::yielded : Rest::waited;
  }

 private:
  TryMutex mutex_;
};

/// Thread-safe.
class UnderWay {
 public:
  /// Something exists from now on that may be started: there is room for it. And no more.
  void expect();
  void forget();

  /// Starts `one` by begin(), which returns an error if it is not under way, and moves it on once.
  template <class Begin>
  int start(Ongoing& one, Begin begin) {
    const std::lock_guard lock(one.mutex());
    const bool before = one.under_way();
    if (const int error = std::move(begin)()) return error;
    if (!before) move_new(one);
    return 0;
  }

  /// Moves everything on, but waits for nobody: what another thread moves is left to it. Returns whether `one` is over.
  bool advance(Ongoing& one);

  /// Until it is over.
  void finish(Ongoing& one);

  /// Whether anything is under way in the process.
  static bool any();

  /// Whether `one` is under way.
  static bool has(Ongoing& one);

  /// As of begin_progress(), for all of the process.
  static Left in_progress();

 private:
  void move_new(Ongoing& one);
  void move(Ongoing& one);
  Ongoing::Rest move_all_but(const Ongoing* one, bool in_progress);

  TryMutex list_mutex_;            ///< guards what follows; the host MPI is never called under it
  std::vector<Ongoing*> ongoing_;  ///< under way, each
  std::size_t expected_ = 0;
};

}  // namespace swapmeet
