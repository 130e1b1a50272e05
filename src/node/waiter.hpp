/// How to wait for another process of the node: spin, for the other may be about to answer, and a core that is given away
/// may go to a stranger for a whole time slice. But where the other wants this very core, give it away at once: spinning
/// is waste. So every rank says which CPU it runs on. Any other rank on this core gets it now and then: the one that is
/// late may in turn be waiting for it. (Sleeping until woken is worse than all this: docs/measurements/node.md.) And let
/// MPI go on meanwhile: the other may be waiting for a message of ours that only MPI's progress completes.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include "node/oversubscription.hpp"

namespace swapmeet {

/// What a rank says to all others of its node. A cache line that hardly ever changes.
struct alignas(64) WaiterSlot {
  std::atomic<std::int32_t> cpu_and_one;  ///< the CPU that it runs on; 0: not said yet
};

class Waiter {
 public:
  Waiter() = default;  ///< of a rank that is alone
  /// `slots`: of all ranks of the node; `me`: this one.
  Waiter(std::span<WaiterSlot> slots, std::size_t me,
         Oversubscription& oversubscription = Oversubscription::of_this_process())
      : slots_(slots), slot_(&slots[me]), oversubscription_(&oversubscription) {
    here();
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

  /// To be called now and then: says where this rank is.
  void here() {
    const std::int32_t now = sched_getcpu() + 1;
    if (now == cpu_and_one_ || !slot_) return;
    cpu_and_one_ = now;
    slot_->cpu_and_one.store(now, std::memory_order_relaxed);
  }

  /// In this turn, something has happened; or nothing, for a rank is late.
  void moved() {
    if (counted_) [[unlikely]]
      counted_ = false, oversubscription_->goes_on();
    idle_ = 0;
  }
  void waits_for(const WaiterSlot& late) { late_here_ |= is_here(late); }

  /// A turn of the loop that waits is over: if nothing has `moved` in it, waits a little. `anyone`: others may be late
  /// of whom nobody knows where they are. Calls poll() every 64th time.
  /// `blocks`: the thread does nothing else meanwhile. Returns whether it has given the core away.
  template <class Poll>
  bool turn(bool moved, bool anyone, Poll&& poll, bool blocks = true) {
    const bool polls = ++turns_ % turns_between_polls == 0;
    if (polls) poll();
    const bool wanted = std::exchange(late_here_, false);
    if (moved) return this->moved(), false;
    if (++idle_ >= few && blocks && !counted_ && oversubscription_) counted_ = true, oversubscription_->waits();
    if (idle_ == 2 * many) idle_ = many;  // as long as it takes
    const bool yields = wanted || (anyone && idle_ > few) || (idle_ % some == 0 && others_here()) || for_long(polls);
    yields ? static_cast<void>(sched_yield()) : pause();
    here();
    return yields;
  }

 private:
  /// Who has not said where it is may be here.
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
  static constexpr std::uint32_t little = 128;    ///< where threads that nobody sees may be here: some microseconds
  static constexpr std::uint32_t several = 1000;  ///< where ranks share cores: they may have moved meanwhile
  /// Turns, some milliseconds: who is late for so long is stopped, or has no core at all.
  static constexpr std::uint32_t many = 100'000;
  std::span<WaiterSlot> slots_;
  WaiterSlot* slot_ = nullptr;
  Oversubscription* oversubscription_ = nullptr;
  bool counted_ = false;           ///< by the crowd, as a thread that waits
  std::int32_t cpu_and_one_ = -1;  ///< as this rank has said
  bool late_here_ = false;         ///< a rank that is late was last seen on this CPU
  std::uint32_t turns_ = 0, idle_ = 0;
};

}  // namespace swapmeet
