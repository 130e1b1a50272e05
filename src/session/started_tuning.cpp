#include "session/started_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

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

/// Trials take some ten exchanges' time, if they lose.
StartedTuning::StartedTuning(Communicator& communicator, Collective collective, Decision& usual)
    : communicator_(communicator), collective_(collective), usual_(usual),
      pause_(static_cast<int>(10 / std::clamp(communicator.options().trials_share, 1e-4, 1.0))) {
  constexpr std::size_t most_of_arm = 64;
  for (std::vector<double>& times_s : times_s_) times_s.reserve(most_of_arm);
}

bool StartedTuning::begins(double now_s) {
  if (ended_) return false;
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
  if (!single_->exchange) end();
}

Decision& StartedTuning::next() {
  if (ended_) return usual_;
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
  std::array<std::int64_t, 2> sums_ns{};  // whose sum is the same on all ranks, in whatever order
  std::ranges::transform(times_s, sums_ns.begin(), [](double time_s) { return std::llround(1e9 * time_s); });
  if (reduce(sums_ns, MPI_INT64_T, MPI_SUM, communicator_.ours()) != MPI_SUCCESS) return end();
  std::ranges::transform(sums_ns, times_s.begin(),
                         [&](std::int64_t ns) { return 1e-9 * static_cast<double>(ns) / communicator_.ranks(); });
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
  for (std::vector<double>& times_s : times_s_) times_s.clear();
}

/// All go as usual from now on.
void StartedTuning::end() {
  paused_ = ended_ = true;
  arm_ = chosen_ = usual;
}

}  // namespace swapmeet
