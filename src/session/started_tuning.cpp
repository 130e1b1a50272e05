#include "session/started_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>

#include "team/agreement.hpp"
#include "mpi/report.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

/// The median of times. Allocates no memory: a rank that lacked it would let the others wait.
double median(std::vector<double>& times_s) {
  if (times_s.empty()) return 0;
  const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
  std::ranges::nth_element(times_s, middle);
  return *middle;
}

/// The shortest time, for a schedule that was just begun: the first messages between two ranks take longer.
double least(const std::vector<double>& times_s) { return times_s.empty() ? 0 : std::ranges::min(times_s); }

}  // namespace

Spec single_step() {
  Spec spec;
  spec.family = Family::direct;
  return spec;
}

bool is_single_step(const Spec& spec) {
  return spec.family == Family::native || (spec.family == Family::direct && spec.window == 0);
}

/// Sets the first pause such that losing trials, which cost the time of some ten exchanges, keep within `share`.
StartedTuning::StartedTuning(Ranks ranks, Spec usual, std::function<bool()> make_single)
    : ranks_(std::move(ranks)), usual_(usual), make_single_(std::move(make_single)),
      pause_(static_cast<int>(10 / std::clamp(ranks_.share, 1e-4, 1.0))) {
  constexpr std::size_t most_of_arm = 64;
  for (std::vector<double>& times_s : times_s_) times_s.reserve(most_of_arm);
}

bool StartedTuning::begins(double now_s) {
  if (ended_) return false;
  const double took_s = now_s - last_s_;
  last_s_ = now_s;
  if (counts_) times_of(arm_).push_back(took_s);
  counts_ = false;
  if (left_ > 0) return false;
  if (paused_) return enter(0), false;
  if (block_ + 1 == first_judged || block_ + 1 == blocks.size()) return true;
  enter(block_ + 1);
  return arm_ == Arm::single && !made_single_;
}

void StartedTuning::settle() {
  if (left_ == 0) judge();
  if (arm_ != Arm::single || made_single_) return;
  made_single_ = make_single_();
  if (!made_single_) end();
}

StartedTuning::Arm StartedTuning::next() {
  if (ended_) return Arm::usual;
  if (!paused_) counts_ = blocks[block_].exchanges - left_ >= blocks[block_].uncounted;
  --left_;
  return arm_;
}

void StartedTuning::enter(std::size_t block) {
  paused_ = false;
  block_ = block;
  arm_ = blocks[block].arm;
  left_ = blocks[block].exchanges;
}

/// Compares the schedules by the mean of the ranks' times, which in the long run are the same.
void StartedTuning::judge() {
  constexpr double hopeless = 1.25, better = 0.95;
  const bool first = block_ + 1 == first_judged;
  std::vector<double>& singles_s = times_of(Arm::single);
  std::array<double, 2> times_s = {median(times_of(Arm::usual)), first ? least(singles_s) : median(singles_s)};
  std::array<std::int64_t, 2> sums_ns{};  // integers, whose sum is the same on all ranks in any order of addition
  std::ranges::transform(times_s, sums_ns.begin(), [](double time_s) { return std::llround(1e9 * time_s); });
  if (reduce(sums_ns, MPI_INT64_T, MPI_SUM, ranks_.peers) != MPI_SUCCESS) return end();
  std::ranges::transform(sums_ns, times_s.begin(),
                         [&](std::int64_t ns) { return 1e-9 * static_cast<double>(ns) / ranks_.number; });
  const auto [usual_s, single_s] = times_s;
  if (first && single_s < hopeless * usual_s) return enter(first_judged);
  chosen_ = single_s < better * usual_s ? Arm::single : Arm::usual;
  pause();
  report(usual_s, single_s);
}

void StartedTuning::report(double usual_s, double single_s) const {
  if (ranks_.calls.empty()) return;
  const auto takes = [](double time_s, const Spec& spec) {
    return fixed_text(1e6 * time_s, 0) + " us by " + to_text(spec);
  };
  try {
    say_once(ranks_.calls + ": from one to the next the program takes " + takes(usual_s, usual_) + ", " +
             takes(single_s, single_step()) + (chosen_ == Arm::single ? ", which is taken" : ", which is left"));
  } catch (const std::bad_alloc&) {}  // on this rank only: the exchange continues
}

/// Uses the chosen schedule for a while.
void StartedTuning::pause() {
  paused_ = true;
  arm_ = chosen_;
  left_ = pause_;
  pause_ = std::min(pause_, 1 << 20) * 4;
  for (std::vector<double>& times_s : times_s_) times_s.clear();
}

/// Uses the usual schedule from now on.
void StartedTuning::end() {
  paused_ = ended_ = true;
  arm_ = chosen_ = Arm::usual;
}

}  // namespace swapmeet
