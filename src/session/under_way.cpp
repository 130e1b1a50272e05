#include "session/under_way.hpp"

#include <algorithm>

#include "mpi/mpi.hpp"
#include "mpi/progress.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

std::atomic<int> number{0};  ///< under way in the process

/// Whether this thread is moving all on: the host MPI, which it calls for that, comes back to us.
thread_local bool moving = false;

}  // namespace

void UnderWay::expect() {
  const std::lock_guard lock(mutex_);
  ongoing_.reserve(++expected_);
}

void UnderWay::forget() {
  const std::lock_guard lock(mutex_);
  --expected_;
}

bool UnderWay::in_progress() {
  if (number.load(std::memory_order_relaxed) == 0) return false;
  if (std::exchange(moving, true)) return true;
  context().under_way->move_all_but(nullptr, true);
  moving = false;
  return number.load(std::memory_order_relaxed) > 0;
}

/// What has just begun, whose baton the caller holds.
void UnderWay::move_new(Ongoing& one) {
  const bool before = std::exchange(moving, true);
  one.advance();
  moving = before;
  if (!one.under_way()) return;
  {
    const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  std::erase(ongoing_, &one);
  number.store(static_cast<int>(ongoing_.size()), std::memory_order_relaxed);
}

void UnderWay::move_all_but(const Ongoing* one, bool rests) {
  for (std::size_t i = 0;; ++i) {
    Ongoing* other = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (; i < ongoing_.size() && !other; ++i)
        if (ongoing_[i] != one && ongoing_[i]->baton().try_lock()) other = ongoing_[i--];
    }
    if (!other) return;
    move(*other);
    if (rests && other->under_way()) other->rest();
    if (!other->under_way()) --i;  // the next is in its place
    other->baton().unlock();
  }
}

bool UnderWay::advance(Ongoing& one) {
  if (!std::exchange(moving, true)) {
    move_all_but(&one, false);
    moving = false;
  }
  const std::lock_guard lock(one.baton());
  move(one);
  return !one.under_way();
}

void UnderWay::finish(Ongoing& one) {
  constexpr int patience = 64;  // looks before others may have the core
  for (int looks = 1; !advance(one); ++looks) {
    {
      const std::lock_guard lock(one.baton());
      if (!one.rest() && looks >= patience) sched_yield();
    }
    int flag = 0;  // the host MPI's messages go on, too: see Neighbours::turn()
    if (looks % patience == 0) PMPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

bool UnderWay::has(Ongoing& one) {
  const std::lock_guard lock(one.baton());
  return one.under_way();
}

}  // namespace swapmeet
