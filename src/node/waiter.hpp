/// The policy by which a rank waits for another process of the node. The rank spins, because the other may be about to
/// answer, and a core that is given away may go to an unrelated process for a whole time slice. But if the late rank
/// runs on the same core, the waiting rank yields it at once, because spinning would be useless. Therefore every rank
/// publishes the CPU on which it runs. Other ranks on this core get it now and then, because the late rank may in turn
/// be waiting for one of them. (Sleeping until woken is slower than all this: docs/measurements/node.md.) A waiting
/// rank also lets MPI make progress, because the other may be waiting for a message of this rank that only MPI's
/// progress completes.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include "node/oversubscription.hpp"

namespace swapmeet {

/// The data that a rank publishes for all others of its node: a cache line that hardly ever changes.
struct alignas(64) WaiterSlot {
  std::atomic<std::int32_t> cpu_and_one;  ///< CPU on which it runs, plus 1; 0: not published yet
};

class Waiter {
 public:
  Waiter() = default;  ///< of a rank that is alone on its node
  /// `slots`: of all ranks of the node; `me`: index of this rank.
  Waiter(std::span<WaiterSlot> slots, std::size_t me,
         Oversubscription& oversubscription = Oversubscription::of_this_process())
      : slots_(slots), slot_(&slots[me]), oversubscription_(&oversubscription) {
    publish_core();
  }
  Waiter(Waiter&& other) noexcept { *this = std::move(other); }
  Waiter& operator=(Waiter&& other) noexcept {
    if (this == &other) return *this;
    moved();
    other.moved();
    slots_ = other.slots_, slot_ = other.slot_, oversubscription_ = other.oversubscription_;
    cpu_and_one_ = other.cpu_and_one_, late_here_ = other.late_here_, turns_ = other.turns_;
    return *this;
  }
  ~Waiter() { moved(); }

  /// Publishes the CPU of this rank. Must be called now and then.
  void publish_core() {
    const std::int32_t now = sched_getcpu() + 1;
    if (now == cpu_and_one_ || !slot_) return;
    cpu_and_one_ = now;
    slot_->cpu_and_one.store(now, std::memory_order_relaxed);
  }

  /// moved(): something has happened in this turn. waits_for(): nothing has, because the rank with slot `late` is late.
  void moved() {
    if (counted_) [[unlikely]]
      counted_ = false, oversubscription_->goes_on();
    idle_ = 0;
  }
  void waits_for(const WaiterSlot& late) { late_here_ |= is_here(late); }

  /// Ends one turn of a waiting loop, and waits a little if nothing has `moved` in it. Calls poll() every 64th time.
  /// `anyone`: ranks with unknown CPU may be late, too. `blocks`: the thread does nothing else meanwhile. Returns
  /// whether it has yielded the core.
  template <class Poll>
  bool turn(bool moved, bool anyone, Poll&& poll, bool blocks = true) {
    const bool polls = ++turns_ % turns_between_polls == 0;
    if (polls) poll();
    const bool wanted = std::exchange(late_here_, false);
    if (moved) return this->moved(), false;
    if (++idle_ >= few && blocks && !counted_ && oversubscription_) counted_ = true, oversubscription_->waits();
    if (idle_ == 2 * many) idle_ = many;  // the count stays in this range until something moves
    const bool yields = wanted || (anyone && idle_ > few) || (idle_ % some == 0 && others_here()) || for_long(polls);
    yields ? static_cast<void>(sched_yield()) : pause();
    publish_core();
    return yields;
  }

 private:
  /// Whether a rank is on this CPU. A rank that has not published its CPU may be here.
  bool is_here(const WaiterSlot& slot) const {
    const std::int32_t there = slot.cpu_and_one.load(std::memory_order_relaxed);
    return there == cpu_and_one_ || there == 0;
  }
  bool others_here() const {
    return std::ranges::any_of(slots_, [this](const WaiterSlot& slot) { return &slot != slot_ && is_here(slot); }) ||
           (oversubscription_ && oversubscription_->has_unseen(ranks()));
  }
  bool for_long(bool polls) const {
    if (polls && idle_ > little && oversubscription_ && oversubscription_->has_threads()) return true;
    if (idle_ <= several) return false;
    return oversubscription_ && oversubscription_->shares_cores(ranks()) ? idle_ % some == 0 : idle_ > many && polls;
  }
  std::int64_t ranks() const { return static_cast<std::int64_t>(slots_.size()); }

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }

  static constexpr std::uint32_t turns_between_polls = 64;
  static constexpr std::uint32_t some = 4, few = 16;
  // All of these are numbers of turns without progress.
  static constexpr std::uint32_t little = 128;  ///< some microseconds: then yields if unseen threads may be here
  static constexpr std::uint32_t several =
      1000;  ///< then yields if ranks share cores: they may have moved to other CPUs
  /// Some milliseconds: then yields in any case, because a rank that is late for so long is stopped or has no core.
  static constexpr std::uint32_t many = 100'000;
  std::span<WaiterSlot> slots_;
  WaiterSlot* slot_ = nullptr;
  Oversubscription* oversubscription_ = nullptr;
  bool counted_ = false;           ///< counted by `oversubscription_` as a waiting thread
  std::int32_t cpu_and_one_ = -1;  ///< as published by this rank
  bool late_here_ = false;         ///< a late rank was last seen on this CPU
  std::uint32_t turns_ = 0, idle_ = 0;
};

}  // namespace swapmeet
