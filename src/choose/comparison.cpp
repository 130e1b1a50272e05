#include "choose/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace swapmeet {

namespace {

/// The median of times. Allocates no memory: a rank that lacked it would let the others wait.
double median_in_place(std::vector<double>& times_s) {
  if (times_s.empty()) return 0;
  const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
  std::ranges::nth_element(times_s, middle);
  return *middle;
}

/// The shortest time, for a schedule that was just begun: the first messages between two ranks take longer.
double least(const std::vector<double>& times_s) { return times_s.empty() ? 0 : std::ranges::min(times_s); }

}  // namespace

/// Sets the first pause such that losing trials, which cost the time of some ten exchanges, keep within `share`.
Comparison::Comparison(double share) : pause_(static_cast<int>(10 / std::clamp(share, 1e-4, 1.0))) {
  constexpr std::size_t most_of_arm = 64;
  for (std::vector<double>& times_s : times_s_) times_s.reserve(most_of_arm);
}

void Comparison::begins(double since_s) {
  if (ended_) return;
  if (counts_) times_of(arm_).push_back(since_s);
  counts_ = false;
  if (left_ > 0) return;
  if (paused_) enter(0);
  else if (!is_first_judgement() && block_ + 1 < blocks.size()) enter(block_ + 1);
}

std::array<std::int64_t, 2> Comparison::times_ns() {
  std::vector<double>& singles_s = times_of(Arm::single);
  const double single_s = is_first_judgement() ? least(singles_s) : median_in_place(singles_s);
  return {std::llround(1e9 * median_in_place(times_of(Arm::usual))), std::llround(1e9 * single_s)};
}

/// Compares the schedules by the mean of the ranks' times, which in the long run are the same.
bool Comparison::learn(double usual_s, double single_s) {
  constexpr double hopeless = 1.25, better = 0.95;
  if (is_first_judgement() && single_s < hopeless * usual_s) return enter(first_judged), false;
  chosen_ = single_s < better * usual_s ? Arm::single : Arm::usual;
  pause();
  return true;
}

Comparison::Arm Comparison::next() {
  if (ended_) return Arm::usual;
  if (!paused_) counts_ = blocks[block_].exchanges - left_ >= blocks[block_].uncounted;
  --left_;
  return arm_;
}

void Comparison::enter(std::size_t block) {
  paused_ = false;
  block_ = block;
  arm_ = blocks[block].arm;
  left_ = blocks[block].exchanges;
}

/// Uses the chosen schedule for a while.
void Comparison::pause() {
  paused_ = true;
  arm_ = chosen_;
  left_ = pause_;
  pause_ = std::min(pause_, 1 << 20) * 4;
  for (std::vector<double>& times_s : times_s_) times_s.clear();
}

void Comparison::end() {
  paused_ = ended_ = true;
  arm_ = chosen_ = Arm::usual;
}

}  // namespace swapmeet
