#include "session/under_way.hpp"

#include <algorithm>

#include "mpi/progress_thread.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

std::atomic<int> number{0};  ///< number of objects under way in the process

/// Whether this thread is already advancing exchanges. Advancing calls the host MPI, whose progress calls this library
/// again.
thread_local bool moving = false;

}  // namespace

void OngoingExchanges::expect() {
  const std::lock_guard lock(list_mutex_);
  ongoing_.reserve(++expected_);
}

void OngoingExchanges::forget() {
  const std::lock_guard lock(list_mutex_);
  --expected_;
}

AdvanceResult OngoingExchanges::in_progress() {
  const int before = number.load(std::memory_order_relaxed);
  if (before == 0) return AdvanceResult::idle;
  if (std::exchange(moving, true)) return AdvanceResult::active;
  ProgressThread::count_look();
  constexpr int most_looks = 8;  // each takes less time than one pass through the host MPI's progress
  OngoingExchanges& all = context().under_way;
  auto rested = Ongoing::Rest::unknown;
  bool completed = false;
  for (int looks = 0; looks < most_looks; ++looks) {
    rested = all.move_all_but(nullptr, !ProgressThread::is_here());
    completed = number.load(std::memory_order_relaxed) < before;
    if (completed || rested == Ongoing::Rest::unknown) break;
  }
  moving = false;
  return completed || rested != Ongoing::Rest::unknown ? AdvanceResult::rested : AdvanceResult::active;
}

/// Advances an object that has just started, and adds it to the list if it is not over. The caller holds its lock.
void OngoingExchanges::move_new(Ongoing& one) {
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

/// Advances an object that was under way before something more was started in it. The caller holds its lock.
void OngoingExchanges::move_at_start(Ongoing& one) {
  const bool before = std::exchange(moving, true);
  if (!before) move(one);
  moving = before;
}

/// Advances an object, and removes it from the list if it is over. The caller holds its lock.
void OngoingExchanges::move(Ongoing& one) {
  if (!one.under_way()) return;
  one.advance();
  if (one.under_way()) return;
  const std::lock_guard lock(list_mutex_);
  std::erase(ongoing_, &one);
  number.store(static_cast<int>(ongoing_.size()), std::memory_order_relaxed);
}

/// Advances all objects except `one`. `in_progress`: this runs in the host MPI's progress. Then it returns how objects
/// have rested.
Ongoing::Rest OngoingExchanges::move_all_but(const Ongoing* one, bool in_progress) {
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
    if (!other->under_way()) --next;  // the next object has taken its place
    else if (in_progress) rested = std::max(rested, other->rest());
    other->mutex().unlock();
    if (last) return rested;
  }
}

bool OngoingExchanges::advance(Ongoing& one) {
  ProgressThread::count_look();
  if (!std::exchange(moving, true)) {
    move_all_but(&one, false);
    moving = false;
  }
  const std::lock_guard lock(one.mutex());
  move(one);
  return !one.under_way();
}

void OngoingExchanges::finish(Ongoing& one) {
  constexpr int patience = 64;  // number of attempts before the core is yielded
  for (int looks = 1; !advance(one); ++looks) {
    {
      const std::lock_guard lock(one.mutex());
      if (one.rest() == Ongoing::Rest::unknown && looks >= patience) sched_yield();
    }
    if (looks % patience == 0) look_for_messages();
  }
}

bool OngoingExchanges::any() { return number.load(std::memory_order_relaxed) > 0; }

bool OngoingExchanges::has(Ongoing& one) {
  const std::lock_guard lock(one.mutex());
  return one.under_way();
}

}  // namespace swapmeet
