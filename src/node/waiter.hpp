/// How to wait for another process of the node: where each has a core of its own, spin for a while, for the other may
/// be about to answer; then give the core away each time. Where cores are shared, give it away at once: spinning is
/// waste. (Sleeping until woken is worse than both: docs/measurements/node.md.) And let MPI go on meanwhile: the other
/// may be waiting for a message of ours that only MPI's progress completes.
///
/// Whether cores are shared is known where there are more ranks than cores, and noticed elsewhere: a core that is given
/// away and comes back late was wanted by somebody.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>

namespace swapmeet {

class Waiter {
 public:
  /// `crowded`: there are more ranks than cores.
  explicit Waiter(bool crowded) : crowded_(crowded) {}

  /// Something has happened.
  void moved() { idle_ = 0; }

  /// A turn of the loop that waits is over: if nothing has `moved` in it, waits a little. Calls poll() every 64th time.
  template <class Poll>
  void turn(bool moved, Poll&& poll) {
    if (++turns_ % turns_between_polls == 0) poll();
    if (moved) return;
    ++idle_;
    if (crowded_) sched_yield();
    else if (idle_ < patience_) pause();
    else give_core_away();
  }

 private:
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }

  void give_core_away() {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    sched_yield();
    const bool wanted = steady_clock::now() - begin > nanoseconds(800);
    unwanted_ = wanted ? 0 : unwanted_ + 1;
    if (wanted) patience_ = 0;
    if (unwanted_ < yields_to_trust) return;
    unwanted_ = 0;
    patience_ = patience_ < most_patience ? 2 * patience_ + 1 : most_patience;
  }

  static constexpr std::uint32_t turns_between_polls = 64;
  static constexpr std::uint32_t yields_to_trust = 64;
  static constexpr std::uint32_t most_patience = 512;  ///< spins; a few tens of microseconds
  bool crowded_;
  std::uint32_t turns_ = 0, idle_ = 0, unwanted_ = 0;
  std::uint32_t patience_ = most_patience;
};

}  // namespace swapmeet
