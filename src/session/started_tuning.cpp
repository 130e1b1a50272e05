#include "session/started_tuning.hpp"

#include <algorithm>
#include <cstdio>
#include <span>

#include "mpi/agreement.hpp"
#include "mpi/report.hpp"
#include "session/communicator.hpp"
#include "session/explain.hpp"

namespace swapmeet {

namespace {

double median(std::vector<double> times_s) {
  if (times_s.empty()) return 0;
  const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
  std::ranges::nth_element(times_s, middle);
  return *middle;
}

/// The first messages between two ranks take longer.
double least(const std::vector<double>& times_s) { return times_s.empty() ? 0 : std::ranges::min(times_s); }

/// The one of a single step; within nodes by MPI, too, for what goes through shared memory is finished by the ranks themselves.
Spec single_step() {
  Spec spec;
  spec.family = Family::direct;
  return spec;
}

}  // namespace

bool is_single_step(const Spec& spec) {
  return spec.family == Family::native || (spec.family == Family::direct && spec.window == 0);
}

bool StartedTuning::begins(double now_s) {
  const double took_s = now_s - last_s_;
  last_s_ = now_s;
  if (counts_) times_s_[arm_].push_back(took_s);
  counts_ = false;
  if (left_ > 0) return false;
  if (paused_) return enter(0), false;
  if (block_ + 1 == first_judged || block_ + 1 == blocks.size()) return true;
  enter(block_ + 1);
  return arm_ == single && !single_;
}

void StartedTuning::settle() {
  if (left_ == 0) judge();
  if (arm_ != single || single_) return;
  single_ = &communicator_.on_trial(collective_, single_step());
  if (!single_->exchange) pause();
}

Decision& StartedTuning::next() {
  if (!paused_) counts_ = blocks[block_].exchanges - left_ >= blocks[block_].uncounted;
  --left_;
  return decision(arm_);
}

Decision& StartedTuning::decision(Arm arm) { return arm == single && single_ && single_->exchange ? *single_ : usual_; }

void StartedTuning::enter(std::size_t block) {
  paused_ = false;
  block_ = block;
  arm_ = blocks[block].arm;
  left_ = blocks[block].exchanges;
}

/// On average over the ranks, which in the long run take the same time.
void StartedTuning::judge() {
  constexpr double hopeless = 1.25, better = 0.95;
  const bool first = block_ + 1 == first_judged;
  std::array<double, 2> times_s = {median(times_s_[usual]), first ? least(times_s_[single]) : median(times_s_[single])};
  if (reduce(std::span(times_s), MPI_DOUBLE, MPI_SUM, communicator_.ours()) != MPI_SUCCESS) return pause();
  for (double& time_s : times_s) time_s /= communicator_.ranks();
  if (first && times_s[single] < hopeless * times_s[usual]) return enter(first_judged);
  chosen_ = times_s[single] < better * times_s[usual] ? single : usual;
  if (communicator_.options().explain && communicator_.rank() == 0) {
    const auto takes = [&](Arm arm) {
      char words[64];
      std::snprintf(words, sizeof words, "%.0f us by ", 1e6 * times_s[arm]);
      return words + to_text(decision(arm).spec());
    };
    say_once(name_of_start(collective_) + ": from one to the next the program takes " + takes(usual) + ", " +
             takes(single) + (chosen_ == single ? ", which is taken" : ", which is left"));
  }
  pause();
}

/// Exchanges go as chosen for a while.
void StartedTuning::pause() {
  paused_ = true;
  arm_ = chosen_;
  left_ = pause_;
  pause_ = std::min(pause_, 1 << 20) * 4;
  for (std::vector<double>& times : times_s_) times.clear();
}

}  // namespace swapmeet
