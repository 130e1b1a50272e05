/// All started and unfinished exchanges of the process. They are advanced in the host MPI's progress, if the host MPI
/// can call other code there, and in this library's own waiting calls.
#pragma once

#include <sched.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/progress.hpp"
#include "node/node_peers.hpp"

namespace swapmeet {

/// A lock that its owner may safely try to take again; the attempt fails. This is needed because the host MPI's
/// progress, entered from a call that this library makes, may call the library again.
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

/// An exchange, or a queue of exchanges, that can be under way.
class Ongoing {
 public:
  Ongoing() = default;
  virtual ~Ongoing() = default;
  Ongoing(const Ongoing&) = delete;
  Ongoing& operator=(const Ongoing&) = delete;

  virtual bool under_way() const = 0;

  /// Advances it without waiting. Throws no exception.
  virtual void advance() = 0;

  /// Whether it may be advanced in the progress of the host MPI (see progress_is_locked()).
  virtual bool goes_on_in_progress() const { return true; }

  /// Rests after an advance() that could do nothing. Yields the core if a node peer that is awaited may need it, else
  /// waits briefly. unknown: the exchange uses no shared memory, so it does neither.
  enum class Rest : std::uint8_t { unknown, waited, yielded };
  virtual Rest rest() { return Rest::unknown; }

  TryMutex& mutex() { return mutex_; }  ///< guards the whole object

 protected:
  /// Rests by the node peers. nullptr: messages of the host MPI only.
  static Rest rest_with(NodePeers* node_peers) {
    if (!node_peers) return Rest::unknown;
    return node_peers->rest() ? Rest::yielded : Rest::waited;
  }

 private:
  TryMutex mutex_;
};

/// The exchanges that are under way in this process. Thread-safe.
class OngoingExchanges {
 public:
  /// Reserves room for one more object that may be started, so that starting needs no memory; forget() undoes this.
  void expect();
  void forget();

  /// Starts `one` by begin(), and advances it once. begin() returns an error if `one` is not under way after it.
  template <class Begin>
  int start(Ongoing& one, Begin begin) {
    const std::lock_guard lock(one.mutex());
    const bool before = one.under_way();
    if (const int error = std::move(begin)()) return error;
    before ? move_at_start(one) : move_new(one);
    return 0;
  }

  /// Advances all exchanges once, without waiting. Exchanges that another thread is advancing are left to it, except
  /// `one`. Returns whether `one` is over.
  bool advance(Ongoing& one);

  /// Waits until `one` is over.
  void finish(Ongoing& one);

  /// Whether anything is under way in the process. Local.
  static bool any();

  /// Whether `one` is under way.
  static bool has(Ongoing& one);

  /// Advances all exchanges of the process; the function for begin_progress().
  static AdvanceResult in_progress();

 private:
  void move_new(Ongoing& one);
  void move_at_start(Ongoing& one);
  void move(Ongoing& one);
  Ongoing::Rest move_all_but(const Ongoing* one, bool in_progress);

  TryMutex list_mutex_;            ///< guards the members below; never held during a call of the host MPI
  std::vector<Ongoing*> ongoing_;  ///< each is under way
  std::size_t expected_ = 0;
};

}  // namespace swapmeet
