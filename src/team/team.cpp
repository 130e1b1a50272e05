#include "team/team.hpp"

#include <algorithm>
#include <array>

#include "mpi/faults.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

Team::Team(Job& job, std::shared_ptr<const std::vector<int>> job_ranks, Rank rank, MPI_Comm user)
    : job_(job), comm_(job.comm()), addresses_(job_ranks->data()), job_ranks_(std::move(job_ranks)), rank_(rank),
      number_(job.take_number()), user_(user) {
  if (number_ >= 0) own_mark_ = tags().of_team(number_);
}

Team::~Team() {
  if (number_ >= 0 && !lost_.load(std::memory_order_relaxed)) job_.give_back(number_);
}

void Team::set_numbers(std::span<const std::int32_t> numbers) {
  has_messages_ = job_.exists() && std::ranges::all_of(numbers, [](std::int32_t number) { return number >= 0; });
  if (!has_messages_ || std::ranges::all_of(numbers, [&](std::int32_t number) { return number == number_; })) return;
  marks_.resize(numbers.size());
  std::ranges::transform(numbers, marks_.begin(), [&](std::int32_t number) { return tags().of_team(number); });
  marks_of_peers_ = marks_.data();
}

void Team::set_common_number(std::int32_t number_of_all) { has_messages_ = job_.exists() && number_of_all >= 0; }

int Team::exchange_numbers(MPI_Comm comm) {
  std::array<std::int32_t, 2> extremes{number_, -number_};
  if (const int error = reduce(extremes, MPI_INT32_T, MPI_MIN, comm)) return error;
  if (extremes[0] == -extremes[1] || extremes[0] < 0) return set_common_number(extremes[0]), MPI_SUCCESS;
  std::vector<std::int32_t> numbers;
  if (const int error = gather(number_, numbers, comm)) return error;
  set_numbers(numbers);
  return MPI_SUCCESS;
}

Rank Team::member(int job_rank) const {
  const auto same = static_cast<std::size_t>(job_rank);
  if (same < job_ranks_->size() && (*job_ranks_)[same] == job_rank) return job_rank;
  return static_cast<Rank>(std::ranges::find(*job_ranks_, job_rank) - job_ranks_->begin());
}

int Team::fault(bool closely) const {
  if (ended_.load(std::memory_order_acquire)) return rank_died();
  if (user_ != MPI_COMM_NULL && is_revoked(user_)) return rank_died();
  return closely && has_died(comm(), *job_ranks_) ? rank_died() : MPI_SUCCESS;
}

}  // namespace swapmeet
