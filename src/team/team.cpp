#include "team/team.hpp"

#include <algorithm>
#include <array>

#include "mpi/faults.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

Team::Team(Job& job, std::shared_ptr<const std::vector<int>> job_ranks, Rank rank, MPI_Comm user, bool reached)
    : job_(job), number_(reached ? job.take_number() : -1), comm_(job.comm()), rank_on_comm_(job_ranks->data()),
      job_ranks_(std::move(job_ranks)), rank_(rank), reached_(reached), user_(user) {
  if (number_ >= 0) own_summand_ = tags().of_team(number_);
}

Team::~Team() {
  if (number_ >= 0 && !keeps_number_.load(std::memory_order_relaxed)) job_.give_back(number_);
}

void Team::set_numbers(std::span<const std::int32_t> numbers) {
  has_messages_ = job_.exists() && std::ranges::all_of(numbers, [](std::int32_t given) { return given >= 0; });
  if (!has_messages_ || std::ranges::count(numbers, number_) == std::ssize(numbers)) return;  // needs no table
  tag_summands_.resize(numbers.size());
  std::ranges::transform(numbers, tag_summands_.begin(), [&](std::int32_t given) { return tags().of_team(given); });
  summands_ = tag_summands_.data();
}

void Team::use_common_number() { has_messages_ = job_.exists() && number_ >= 0; }

int Team::exchange_numbers() {
  std::array<std::int32_t, 2> extremes{number_, -number_};  // becomes the minimum, and minus the maximum
  if (const int error = allreduce(extremes, MPI_INT32_T, MPI_MIN, *this)) return error;
  if (extremes[0] < 0) return MPI_SUCCESS;  // a member has no number: no messages
  if (extremes[0] == -extremes[1]) return use_common_number(), MPI_SUCCESS;
  std::vector<std::int32_t> numbers;
  if (const int error = allgather(number_, numbers, *this)) return error;
  set_numbers(numbers);
  return MPI_SUCCESS;
}

Rank Team::member(int job_rank) const {
  const auto index = static_cast<std::size_t>(job_rank);  // members are often the first ranks of the job
  if (index < job_ranks_->size() && (*job_ranks_)[index] == job_rank) return job_rank;
  return static_cast<Rank>(std::ranges::find(*job_ranks_, job_rank) - job_ranks_->begin());
}

int Team::fault(bool closely) const {
  if (given_up_.load(std::memory_order_acquire)) return fault_error();
  if (user_ != MPI_COMM_NULL && is_revoked(user_)) return fault_error();
  return closely && has_died(comm(), *job_ranks_) ? fault_error() : MPI_SUCCESS;
}

}  // namespace swapmeet
