#include "choose/trials.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "schedule/random.hpp"

namespace swapmeet {

namespace {

struct Round {
  int samples;    ///< of each arm
  double keep;    ///< arms that take longer than so many times the shortest are not tried again
  double margin;  ///< what is usual changes for an arm that takes less than this part of its time
};
constexpr Round rounds[] = {{1, 2.0, 0.7}, {3, 1.25, 0.8}, {5, 1.25, 0.95}};
constexpr int looks = 3;
constexpr double native_margin = 0.97;  ///< the same for the host MPI, whenever it is compared
constexpr double unknown_calls = 2;     ///< what an arm takes that was never tried, in calls as usual

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

Trials::Trials(double share, std::uint64_t seed) : share_(share), seed_(seed), samples_(1) {
  plan_round({native}, looks, share_);
}

void Trials::begin(int arms, int usual) {
  std::vector<double> seen = std::move(samples_[0]);
  samples_.assign(static_cast<std::size_t>(arms), {});
  samples_[static_cast<std::size_t>(usual)] = std::move(seen);
  usual_ = usual;
  start();
}

void Trials::start() {
  stage_ = Stage::trying;
  round_number_ = 0;
  alive_.resize(samples_.size());
  std::iota(alive_.begin(), alive_.end(), 0);
  plan_round(alive_, rounds[0].samples, share_);
}

/// Trials of `arms` in random order, one of each, `samples` times, with pauses that make up for what they and those
/// before cost.
void Trials::plan_round(std::vector<int> arms, int samples, double share) {
  round_.clear();
  next_ = 0;
  Random random(seed_ += golden_gamma);
  for (int sample = 0; sample < samples; ++sample) {
    for (std::size_t i = arms.size(); i > 1; --i) std::swap(arms[i - 1], arms[random.below(i)]);
    round_.insert(round_.end(), arms.begin(), arms.end());
  }
  times_.assign(3 * round_.size(), 0);
  double calls = unknown_calls / share;  // that are worth one trial
  if (call_s_ > 0) {
    double cost_s = cost_s_ - share * call_s_ * static_cast<double>(calls_);  // not yet made up for
    for (const int arm : round_)
      cost_s +=
          waiting_s_ / trials_ + std::max(0.0, (seconds(arm) < 0 ? unknown_calls * call_s_ : seconds(arm)) - call_s_);
    calls = cost_s / (share * call_s_) / static_cast<double>(round_.size());
  }
  calls = std::max(calls, static_cast<double>(watch_calls_) / static_cast<double>(round_.size()));
  pause_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(std::ceil(calls), 1e15)));
}

int Trials::next() {
  calls_ += pause_ + 1;
  ++trials_;
  return round_[next_++];
}

void Trials::took(double waiting_s, double call_s, double since_s) {
  times_[3 * next_ - 3] = call_s;
  times_[3 * next_ - 2] = -waiting_s;  // the most of any rank is then the least waiting: of who came last
  times_[3 * next_ - 1] = -since_s;
}

/// What trials may cost is a share of this. A call for which ranks wait for one another may take far longer than others:
/// where they share cores, until each has had its turn.
void Trials::price_calls() {
  call_s_ = std::max(seconds(usual_), 1e-9);
  if (between_s_ > 0) call_s_ = std::min(call_s_, between_s_);
}

double Trials::seconds(int arm) const {
  const std::vector<double>& samples = samples_[static_cast<std::size_t>(arm)];
  return samples.empty() ? -1 : median(samples);
}

void Trials::learn() {
  if (stage_ == Stage::watching)
    for (std::vector<double>& samples : samples_) samples.clear();
  for (std::size_t i = 0; i < round_.size(); ++i)
    samples_[static_cast<std::size_t>(round_[i])].push_back(times_[3 * i]);
  double paused_s = 0;
  for (std::size_t i = 0; i < round_.size(); ++i) paused_s -= times_[3 * i + 2];
  between_s_ = paused_s / static_cast<double>(pause_) / static_cast<double>(round_.size());
  price_calls();
  for (std::size_t i = 0; i < round_.size(); ++i) {
    waiting_s_ -= times_[3 * i + 1];
    cost_s_ += std::max(0.0, times_[3 * i] - call_s_) - times_[3 * i + 1];
  }
  if (stage_ == Stage::looking) {
    stage_ = Stage::preparing;
    cost_s_ += setup_s;
    next_ = 0;
    pause_ =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(cost_s_ / (share_ * call_s_), 1e15)) - calls_);
    calls_ += pause_;
    return;
  }
  if (stage_ == Stage::watching) return compare_again();
  const Round& round = rounds[round_number_];
  change(round.margin);
  drop_slow_arms(round.keep);
  if (++round_number_ < static_cast<int>(std::size(rounds)))
    return plan_round(alive_, rounds[round_number_].samples, share_);
  settled_s_ = seconds(usual_);
  watch_calls_ = std::max<std::int64_t>(calls_, 1000);
  stage_ = Stage::watching;
  plan_round(usual_ == native ? std::vector{native} : std::vector{native, usual_}, looks, share_ / 4);
}

void Trials::drop_slow_arms(double factor) {
  double least = seconds(usual_);
  for (const int arm : alive_) least = std::min(least, seconds(arm));
  std::erase_if(alive_, [&](int arm) { return arm != native && arm != usual_ && seconds(arm) > factor * least; });
}

void Trials::change(double margin) {
  if (seconds(native) >= 0 && seconds(native) < native_margin * seconds(usual_)) usual_ = native;
  const int best = *std::ranges::min_element(alive_, {}, [this](int arm) { return seconds(arm); });
  if (seconds(best) < margin * seconds(usual_)) usual_ = best;
  price_calls();
}

void Trials::compare_again() {
  const double now_s = seconds(usual_);
  const bool changed = now_s > 2 * settled_s_ || now_s < settled_s_ / 2;
  if (!changed && !(usual_ != native && seconds(native) < native_margin * now_s)) {
    watch_calls_ *= 2;
    return plan_round(usual_ == native ? std::vector{native} : std::vector{native, usual_}, looks, share_ / 4);
  }
  if (seconds(native) < native_margin * now_s) usual_ = native;
  price_calls();
  for (std::vector<double>& samples : samples_) samples.clear();
  watch_calls_ = 0;
  start();
}

}  // namespace swapmeet
