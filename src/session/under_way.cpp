#include "session/under_way.hpp"

#include <algorithm>

#include "mpi/progress_thread.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

std::atomic<int> number{0};  ///< under way in the process

/// Whether this thread is moving all on: the host MPI, which it calls for that, comes back to us.
thread_local bool moving = false;

}  // namespace

void UnderWay::expect() {
  const std::lock_guard lock(list_mutex_);
  ongoing_.reserve(++expected_);
}

void UnderWay::forget() {
  const std::lock_guard lock(list_mutex_);
  --expected_;
}

Left UnderWay::in_progress() {
  const int before = number.load(std::memory_order_relaxed);
  if (before == 0) return Left::nothing;
  if (std::exchange(moving, true)) return Left::something;
  ProgressThread::count_look();
  constexpr int most_looks = 8;  // each takes less than the way through the host MPI's progress
  UnderWay& all = *context().under_way;
  auto rested = Ongoing::Rest::unknown;
  bool completed = false;
  for (int looks = 0; looks < most_looks; ++looks) {
    rested = all.move_all_but(nullptr, !ProgressThread::is_here());
    completed = number.load(std::memory_order_relaxed) < before;
    if (completed || rested == Ongoing::Rest::unknown) break;
  }
  moving = false;
  return completed || rested != Ongoing::Rest::unknown ? Left::rested : Left::something;
}

/// What has just begun, whose baton the caller holds.
void UnderWay::move_new(Ongoing& one) {
  const bool before = std::exchange(moving, true);
  one.advance();
  moving = before;
  if (!one.under_way()) return;
  {
    const std::lock_guard lock(list_mutex_);
    ongoing_.push_back(&one);
    number.store(static_cast<int>(ongoing_.size()), std::memory_order_relaxed);
  }
  begin_progress(in_progress);
}

/// Whose baton the caller holds.
void UnderWay::move(Ongoing& one) {
  if (!one.under_way()) return;
  one.advance();
  if (one.under_way()) return;
  const std::lock_guard lock(list_mutex_);
  std::erase(ongoing_, &one);
  number.store(static_cast<int>(ongoing_.size()), std::memory_order_relaxed);
}

/// `in_progress`: of the host MPI. Returns how it has rested there.
Ongoing::Rest UnderWay::move_all_but(const Ongoing* one, bool in_progress) {
  auto rested = Ongoing::Rest::unknown;
  for (std::size_t next = 0;;) {
    Ongoing* other = nullptr;
    bool last = false;
    {
      const std::lock_guard lock(list_mutex_);
      while (next < ongoing_.size() && !other) {
        Ongoing* const candidate = ongoing_[next++];
        if (candidate != one && (!in_progress || candidate->goes_on_in_progress()) && candidate->mutex().try_lock())
          other = candidate;
      }
      last = next >= ongoing_.size();
    }
    if (!other) return rested;
    move(*other);
    if (!other->under_way()) --next;  // the next is in its place
    else if (in_progress) rested = std::max(rested, other->rest());
    other->mutex().unlock();
    if (last) return rested;
  }
}

bool UnderWay::advance(Ongoing& one) {
  ProgressThread::count_look();
  if (!std::exchange(moving, true)) {
    move_all_but(&one, false);
    moving = false;
  }
  const std::lock_guard lock(one.mutex());
  move(one);
  return !one.under_way();
}

void UnderWay::finish(Ongoing& one) {
  constexpr int patience = 64;  // looks before others may have the core
  for (int looks = 1; !advance(one); ++looks) {
    {
      const std::lock_guard lock(one.mutex());
      if (one.rest() == Ongoing::Rest::unknown && looks >= patience) sched_yield();
    }
    if (looks % patience == 0) look_for_messages();
  }
}

bool UnderWay::any() { return number.load(std::memory_order_relaxed) > 0; }

bool UnderWay::has(Ongoing& one) {
  const std::lock_guard lock(one.mutex());
  return one.under_way();
}

}  // namespace swapmeet
