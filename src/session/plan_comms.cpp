#include "session/plan_comms.hpp"

#include <bit>
#include <span>
#include <utility>

namespace swapmeet {

std::uint64_t PlanComms::idle() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t idle = 0;
  for (std::size_t i = 0; i < number_; ++i) idle |= std::uint64_t{all_[i].idle} << i;
  return idle;
}

MPI_Comm PlanComms::take(std::uint64_t idle_everywhere, int& number) {
  const std::lock_guard lock(mutex_);
  number = -1;
  if (idle_everywhere == 0) return MPI_COMM_NULL;
  number = std::countr_zero(idle_everywhere);
  One& one = all_[static_cast<std::size_t>(number)];
  one.idle = false;
  return one.comm;
}

int PlanComms::add(MPI_Comm made) {
  const std::lock_guard lock(mutex_);
  if (number_ == all_.size()) return -1;
  all_[number_].comm = made;
  return static_cast<int>(number_++);
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
    if (std::exchange(one.idle, false)) PMPI_Comm_free(&one.comm);
}

}  // namespace swapmeet
