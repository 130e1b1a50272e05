#include "session/online_tuning.hpp"

#include <algorithm>
#include <cstdio>

#include "mpi/agreement.hpp"
#include "session/communicator.hpp"

namespace swapmeet {

namespace {

constexpr int most_unlike = 4;  ///< then such calls are what trials are made of

/// "12.3 us"
std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f us", seconds < 1e-4 ? 1 : 0, 1e6 * seconds);
  return text;
}

}  // namespace

OnlineTuning::OnlineTuning(Communicator& communicator, Collective collective, Decision& usual, std::uint64_t seed)
    : communicator_(communicator), collective_(collective), usual_(usual),
      trials_(communicator.options().trials_share, seed), pause_(trials_.pause()), paused_s_(PMPI_Wtime()) {}

/// Calls go as usual from now on.
void OnlineTuning::pause() {
  pause_ = trials_.pause();
  paused_s_ = PMPI_Wtime();
}

Decision& OnlineTuning::next(std::int64_t block_bytes, std::uint64_t sent_bytes) {
  pause_ = 0;
  under_way_ = false;  // if an error handler has thrown
  if (trials_.round_over()) learn();
  if (pause_ > 0) return usual();
  if (trials_.wants_arms()) return prepare(), usual();
  if (!begin(static_cast<double>(block_bytes), static_cast<double>(sent_bytes))) {
    pause();
    return usual();
  }
  const int arm = trials_.next();
  pause_ = 1 + (trials_.round_over() ? 0 : trials_.pause());
  under_way_ = true;
  began_s_ = PMPI_Wtime();
  return arms_.empty() ? usual_ : *arms_[static_cast<std::size_t>(arm)];
}

/// Waits for the other ranks, unless the call is not to be a trial. Collective.
bool OnlineTuning::begin(double block_bytes, double sent_bytes) {
  const bool equal = collective_ == Collective::alltoall;
  if (equal && !like_others(block_bytes)) return false;
  const double before_s = PMPI_Wtime();
  since_s_ = before_s - paused_s_;
  double all_bytes = sent_bytes;
  reduce(std::span(&all_bytes, 1), MPI_DOUBLE, MPI_SUM, communicator_.user());
  waiting_s_ = PMPI_Wtime() - before_s;
  return equal || like_others(all_bytes);
}

/// Whether so many bytes are those of trials before, equal ones the same, others within a factor of two; or become
/// those of trials, for such calls do not seem to come any more.
bool OnlineTuning::like_others(double bytes) {
  const double factor = collective_ == Collective::alltoall ? 1 : 2;
  const bool like = bytes <= factor * reference_bytes_ && factor * bytes >= reference_bytes_;
  if (!like && reference_bytes_ >= 0 && ++unlike_ < most_unlike) return false;
  if (!like) reference_bytes_ = bytes;
  unlike_ = 0;
  return true;
}

void OnlineTuning::ends() {
  under_way_ = false;
  paused_s_ = PMPI_Wtime();
  trials_.took(waiting_s_, paused_s_ - began_s_, since_s_);
}

/// Collective.
void OnlineTuning::prepare() {
  const double ranks = communicator_.ranks(), blocks = collective_ == Collective::alltoall ? 1 : ranks * ranks;
  arms_ = communicator_.arms(collective_, static_cast<std::int64_t>(reference_bytes_ / blocks), usual_);
  trials_.begin(static_cast<int>(arms_.size()), arms_.front() == &usual_ ? 0 : 1);
  pause();
}

/// Keeps what the round shows of each arm for later runs.
void OnlineTuning::remember() {
  if (arms_.empty() || said().world_rank != 0) return;
  const std::optional<CallKind> kind = communicator_.kind(collective_, static_cast<std::int64_t>(reference_bytes_));
  if (!kind) return;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < trials_.round().size(); ++i)
      if (trials_.round()[i] == static_cast<int>(arm)) seconds.push_back(trials_.times()[3 * i]);
    if (!seconds.empty()) context().memory.remember(evidence_of(*kind, arms_[arm]->spec(), seconds));
  }
}

/// Collective.
void OnlineTuning::learn() {
  const int before = trials_.usual();
  const bool settled = trials_.settled();
  const std::span<double> times = trials_.times();
  if (reduce(times, MPI_DOUBLE, MPI_MAX, communicator_.user()) != MPI_SUCCESS) std::ranges::fill(times, 0.0);
  remember();
  trials_.learn();
  pause();
  if (trials_.usual() != before) communicator_.decide_anew();
  if (arms_.empty() || (trials_.usual() == before && trials_.settled() == settled)) return;
  Decision& chosen = usual();
  chosen.reason = "online choice: " + microseconds(trials_.seconds(trials_.usual())) + ", the host MPI " +
                  microseconds(trials_.seconds(Trials::native)) + "; " + std::to_string(trials_.trials()) +
                  " trials in " + std::to_string(trials_.calls()) + " calls";
  chosen.explained = !communicator_.options().explain;
  chosen.tally = &statistics().tally(collective_, communicator_.ranks(), to_text(chosen.spec()), "online choice");
  chosen.tally->trial_s = trials_.seconds(trials_.usual());
  chosen.tally->host_trial_s = trials_.seconds(Trials::native);
  chosen.tally->trials = trials_.trials();
}

}  // namespace swapmeet
