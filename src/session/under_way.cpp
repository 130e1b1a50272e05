#include "session/under_way.hpp"

#include <algorithm>

#include "mpi/mpi.hpp"
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

Left UnderWay::in_progress() {
  const int before = number.load(std::memory_order_relaxed);
  if (before == 0) return Left::nothing;
  if (std::exchange(moving, true)) return Left::something;
  constexpr int most_looks = 4;  // where others had the core meanwhile: they may have moved
  auto rested = Ongoing::Rest::yielded;
  for (int looks = 0; looks < most_looks && rested == Ongoing::Rest::yielded; ++looks)
    rested = context().under_way->move_all_but(nullptr, true);
  moving = false;
  const bool completed = number.load(std::memory_order_relaxed) < before;
  return completed || rested != Ongoing::Rest::unknown ? Left::rested : Left::something;
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

/// `in_progress`: of the host MPI. Returns how it has rested there.
Ongoing::Rest UnderWay::move_all_but(const Ongoing* one, bool in_progress) {
  auto rested = Ongoing::Rest::unknown;
  for (std::size_t i = 0;; ++i) {
    Ongoing* other = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (; i < ongoing_.size() && !other; ++i)
        if (ongoing_[i] != one && (!in_progress || ongoing_[i]->goes_on_in_progress()) &&
            ongoing_[i]->baton().try_lock())
          other = ongoing_[i--];
    }
    if (!other) return rested;
    move(*other);
    if (in_progress && other->under_way()) rested = std::max(rested, other->rest());
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
      if (one.rest() == Ongoing::Rest::unknown && looks >= patience) sched_yield();
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
