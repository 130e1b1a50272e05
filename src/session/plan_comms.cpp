#include "session/plan_comms.hpp"

#include <atomic>
#include <bit>
#include <span>
#include <utility>

namespace swapmeet {

namespace {

constexpr int most_made = 1024;  ///< the others are the application's
std::atomic<int> made{0};        ///< by plans of this process, and not freed

}  // namespace

std::uint64_t PlanComms::idle() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t idle = !host_is_mpich || made < most_made ? room : 0;
  for (std::size_t i = 0; i < number_; ++i) idle |= std::uint64_t{all_[i].idle} << i;
  return idle;
}

MPI_Comm PlanComms::take(std::uint64_t idle_everywhere, int& number) {
  const std::lock_guard lock(mutex_);
  number = -1;
  idle_everywhere &= ~room;
  if (idle_everywhere == 0) return MPI_COMM_NULL;
  number = std::countr_zero(idle_everywhere);
  One& one = all_[static_cast<std::size_t>(number)];
  one.idle = false;
  return one.comm;
}

int PlanComms::add(MPI_Comm one) {
  ++made;
  const std::lock_guard lock(mutex_);
  if (number_ == all_.size()) return -1;
  all_[number_].comm = one;
  return static_cast<int>(number_++);
}

void PlanComms::free(MPI_Comm& one) {
  --made;
  PMPI_Comm_free(&one);
}

bool PlanComms::give_back(int number, bool sound) {
  const std::lock_guard lock(mutex_);
  if (number < 0 || closed_ || !sound) return false;
  return all_[static_cast<std::size_t>(number)].idle = true;
}

void PlanComms::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for (One& one : std::span(all_).first(number_))  // which nobody takes or gives back any more
    if (std::exchange(one.idle, false)) free(one.comm);
}

}  // namespace swapmeet
