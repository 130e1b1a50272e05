#include "choose/trials.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "schedule/elementary.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

constexpr std::int64_t endless = std::int64_t{1} << 50;
constexpr std::int64_t least_watched = 1000;    ///< calls before the first repeated measurement
constexpr std::int64_t least_remembered = 250;  ///< the same if only earlier runs have measured
constexpr double waiting_calls = 0.5;           ///< assumed cost of waiting for all ranks at first, in calls
constexpr double first_noise = 0.4;  ///< deviation of the logarithm of an arm's first call, which may make connections
constexpr double of_median = 1.25;   ///< standard deviation of a median, in those of a mean
constexpr double agreeing_calls = 0.05;  ///< assumed cost of an agreement before which no rank waits, in calls
/// share of the usual time below which an arm (the reference) becomes usual
constexpr double margin = 0.95, by_reference = 0.97;
/// deviations by which an arm that replaces the reference must be faster: it is checked many times
constexpr double sure_of_other = 2.5;
constexpr double sure_of_ours = 1;         ///< the same if it replaces another arm than the reference
constexpr double sure_of_reference = 0.5;  ///< the same if the reference replaces another arm
constexpr double sure_slower = 2;          ///< deviations beyond which an arm is too slow to be measured
constexpr double least_s = 1e-9;           ///< least time of a call
constexpr double other = 2;      ///< factor by which a repeated measurement means that the machine has changed
constexpr double promise = 0.9;  ///< share of the usual time below which an arm is worth an early trial
/// factors of `share` for the early budget, if promising() and else
constexpr double early_factor_promising = 10, early_factor_unpromising = 1.5;

double density(double x) { return elementary::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double below(double x) { return elementary::erfc(-x / std::numbers::sqrt2) / 2; }

/// Returns the mean of max(x, 0) for a normally distributed x.
double mean_above(double mean, double deviation) {
  if (deviation <= 0) return std::max(0.0, mean);
  return deviation * density(mean / deviation) + mean * below(mean / deviation);
}

std::int64_t whole(double calls) {
  return static_cast<std::int64_t>(std::min(std::ceil(std::max(0.0, calls)), static_cast<double>(endless)));
}

/// Whether the least expected time is far below the usual one. Logarithms of times.
bool far_less(double least, double usual) { return least < usual + elementary::log(promise); }

}  // namespace

bool promise_much(std::span<const Expectation> arms) {
  const auto log_mean = [](const Expectation& arm) { return arm.time.log_mean; };
  return far_less(log_mean(*std::ranges::min_element(arms, {}, log_mean)), log_mean(arms[Trials::reference]));
}

std::array<Expectation, 2> expectations_of_starts(const Spec& usual, const Spec& single) {
  constexpr double promised = 0.85;  // so that it is tried early
  return {{{usual, {0, doubt_of_starts.own}, 1}, {single, {elementary::log(promised), doubt_of_starts.own}, promised}}};
}

Trials::Trials(double share, std::span<const Expectation> arms, int usual, const Doubt& doubt, const Pace& pace)
    : share_(share), rows_(pace.rows), granted_early_calls_(pace.early_calls), doubt_(doubt), usual_(usual),
      calls_(pace.calls) {
  const Expectation& first = arms[static_cast<std::size_t>(usual)];
  const bool fastest = std::ranges::none_of(arms, [&](const Expectation& arm) {
    return arm.calls > 0 ? arm.time.log_mean < first.time.log_mean : far_less(arm.time.log_mean, first.time.log_mean);
  });
  remembered_ = first.calls > 0 && first.date != 0;
  const bool compared = arms[reference].calls > 0;
  // If an earlier run has measured, it has spent the early budget.
  early_calls_ = remembered_ && fastest && compared ? 0 : granted_early_calls_;
  for (const Expectation& arm : arms) arms_.push_back({arm.time, arm.calls > 0});
  for (Arm& arm : arms_) arm.samples.reserve(most_samples);
  const auto most_timed = static_cast<std::size_t>(std::max({rows_.usual.timed, rows_.first.timed, rows_.other.timed}));
  timed_s_.reserve(most_timed);
  sorted_.reserve(std::max(most_samples, most_timed));
  measured_.reserve(arms_.size());
  beliefs_.resize(arms_.size());
  arms_[reference].prepared = arms_[static_cast<std::size_t>(usual)].prepared = true;
  arms_[static_cast<std::size_t>(usual)].called = true;
  believe();
  plan();
}

const TrialRow& Trials::row_of(int arm) const {
  if (arm == usual_) return rows_.usual;
  return arms_[static_cast<std::size_t>(arm)].called ? rows_.other : rows_.first;
}

double Trials::median(std::span<const double> values) const {
  sorted_.assign(values.begin(), values.end());
  const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(sorted_.size() / 2);
  std::ranges::nth_element(sorted_, middle);
  if (sorted_.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(sorted_.begin(), middle)) / 2;
}

double Trials::seconds(int arm) const {
  const Arm& one = arms_[static_cast<std::size_t>(arm)];
  return one.samples.empty() ? one.first_s : median(one.samples);
}

double Trials::spread_s(int arm) const {
  return seconds(arm) * of_median * noise() / std::sqrt(std::max(1, samples(arm)));
}

/// Returns the deviation of the logarithm of a sample, estimated from all arms; the assumed one counts as four samples.
double Trials::noise() const {
  constexpr double before = 4;
  double sum = before * rows_.noise * rows_.noise, samples = before;
  for (const Arm& arm : arms_) {
    if (arm.samples.size() < 2) continue;
    const double middle = median(arm.samples);
    for (const double sample : arm.samples) {
      const double off =
          std::min(std::abs(elementary::log(sample / middle)), 1.0);  // an outlier counts no more than this
      sum += off * off;
    }
    samples += static_cast<double>(arm.samples.size() - 1);
  }
  return std::sqrt(sum / samples);
}

/// Computes the beliefs from priors and samples.
void Trials::believe() {
  const double one = noise();
  measured_.clear();
  for (const Arm& arm : arms_) {
    Measured& found = measured_.emplace_back(Measured{measured_.empty() ? doubt_.host : doubt_.own});
    const auto count = static_cast<std::int64_t>(arm.samples.size());
    if (arm.known) found.add({0, arm.prior.deviation}, 1);
    if (count > 0)
      found.add({elementary::log(median(arm.samples)) - arm.prior.log_mean,
                 of_median * one / std::sqrt(static_cast<double>(count))},
                count);
    else if (arm.first_s > 0) found.add({elementary::log(arm.first_s) - arm.prior.log_mean, first_noise}, 1);
  }
  posterior(measured_, doubt_.common, beliefs_);
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    beliefs_[i].log_mean += arms_[i].prior.log_mean;
    // the error that all arms share changes no comparison
    if (measured_[i].calls == 0) beliefs_[i].deviation = measured_[i].own;
  }
}

/// Returns the expected gain of one more sample of the arm, per call to come, in usual calls.
double Trials::gain(std::size_t arm, double noise) const {
  const auto usual = static_cast<std::size_t>(usual_);
  const Belief& mine = beliefs_[arm];
  const double learnt =
      // deviation of the change of the mean
      mine.deviation * mine.deviation / elementary::hypot(mine.deviation, noise);
  // An arm that seems faster by the margin becomes usual once that is certain. Until then the less certain of the two
  // is measured.
  const auto ahead = [&](std::size_t other) {
    return beliefs_[usual].log_mean - beliefs_[other].log_mean +
           elementary::log(other == reference ? by_reference : margin);
  };
  if (arm != usual) {
    const bool sure_enough = has_evidence(static_cast<int>(arm)) && mine.deviation < beliefs_[usual].deviation;
    return std::min(1.0, mean_above(sure_enough ? -std::abs(ahead(arm)) : ahead(arm), learnt));
  }
  double most = 0;
  for (std::size_t i = 0; i < beliefs_.size(); ++i) {
    if (i == usual || (has_evidence(usual_) && !has_evidence(static_cast<int>(i)))) continue;
    const bool less_sure = mine.deviation >= beliefs_[i].deviation;
    most = std::max(most, mean_above(less_sure ? ahead(i) : -std::abs(ahead(i)), learnt));
  }
  return std::min(1.0, most);
}

/// Returns the expected cost of a trial of the arm, in usual calls.
double Trials::cost(std::size_t arm) const {
  const auto usual = static_cast<std::size_t>(usual_);
  const double call_s = elementary::exp(beliefs_[usual].log_mean);
  const double waiting = waiting_s_ > 0 ? waiting_s_ / trials_ / call_s : trials_ > 0 ? agreeing_calls : waiting_calls;
  double longer = 0;
  if (arm != usual) {
    const double apart = beliefs_[arm].log_mean - beliefs_[usual].log_mean, unsure = beliefs_[arm].deviation;
    // mean of the excess over 1 of a log-normal ratio
    const double mean = elementary::exp(apart + unsure * unsure / 2);
    longer = unsure > 0 ? mean * below(apart / unsure + unsure) - below(apart / unsure) : std::max(0.0, mean - 1);
  }
  const double setup = arms_[arm].prepared ? 0 : setup_s / call_s;
  return waiting + row_of(static_cast<int>(arm)).calls() * longer + setup;
}

/// Whether an early trial promises much: another arm is expected to take far less than the usual one, or the usual arm
/// is not the reference and may be slower than it.
bool Trials::promising() const {
  if (usual_ != reference) return true;
  const auto least = std::ranges::min_element(beliefs_, {}, &Belief::log_mean);
  return far_less(least->log_mean, beliefs_[static_cast<std::size_t>(usual_)].log_mean);
}

/// Whether the arm may be faster than the usual one: unless it is expected to be slower by at least `sure_slower`
/// standard deviations of their difference.
bool Trials::may_be_faster(int arm) const {
  const Belief &other = beliefs_[static_cast<std::size_t>(arm)], &usual = beliefs_[static_cast<std::size_t>(usual_)];
  return other.log_mean - usual.log_mean < sure_slower * elementary::hypot(other.deviation, usual.deviation);
}

void Trials::plan() {
  in_trial_ = watching_ = false;
  if (arms_.size() == 1) {
    pause_ = endless;
    return;
  }
  if (share_ >= 1) {
    next_ = (next_ + 1) % static_cast<int>(arms_.size());
    pause_ = 1;
    return;
  }
  const double one = noise();
  const auto usual = static_cast<std::size_t>(usual_);
  double call_s = elementary::exp(beliefs_[usual].log_mean);
  if (between_s_ > 0) call_s = std::min(call_s, between_s_);
  const double spent = cost_s_ / call_s, so_far = static_cast<double>(calls_);
  const double early_factor = promising() ? early_factor_promising : early_factor_unpromising;
  double least = static_cast<double>(endless);  // number of calls at which the gain of the best trial equals its cost
  std::int64_t soonest = endless;
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    const double costs = cost(arm), gains = gain(arm, one);
    if (!(gains > 0 && costs / gains < least)) continue;
    least = costs / gains;
    next_ = static_cast<int>(arm);
    const double left = spent + costs;  // share · n + min(early_factor · share · n, 100 · early_calls · share) >= left
    const double allowed =
        std::max(left / ((1 + early_factor) * share_), (left - 100 * early_calls_ * share_) / share_);
    soonest = whole(std::max(least - foreseen, allowed) - so_far);
  }
  // An arm that became usual by the model alone is measured at once, if there is a measurement to compare it with.
  const bool compared = std::ranges::any_of(arms_, [](const Arm& arm) { return arm.known || !arm.samples.empty(); });
  if (!has_evidence(usual_) && compared) soonest = 1, next_ = usual_;
  if (usual_ != reference && !has_evidence(reference) && (watched_calls_ > 0 || may_be_faster(reference))) {
    soonest = std::min(soonest, std::max<std::int64_t>(1, compared_after - calls_));
    if (soonest + calls_ >= compared_after) next_ = reference;
  }
  const bool unseen = remembered_ && watched_calls_ == 0;
  const std::int64_t look = (unseen ? least_remembered : std::max(least_watched, 2 * watched_calls_)) - calls_;
  const auto due = static_cast<double>(look);  // a time that may be wrong by far does not wait for the budget
  const double waits = unseen ? due : std::max(due, (spent + cost(usual)) / share_ - so_far);
  if (whole(waits) < soonest) {
    watching_ = true;
    watched_ = watched_ == usual_ ? reference : usual_;
    next_ = watched_;
    soonest = whole(waits);
  }
  pause_ = std::max<std::int64_t>(1, soonest);
}

int Trials::next(double waiting_s, double since_s) {
  row_ = row_of(next_);
  left_ = row_calls_ = row_.calls();
  ended_ = 0;
  timed_s_.clear();
  calls_ += pause_ + left_;
  ++trials_;
  in_trial_ = true;
  // The maximum over the ranks of a negated time is the least time of any rank. The least waiting is that of the rank
  // that arrived last.
  times_ = {0, -waiting_s, -since_s};
  return next_;
}

void Trials::took(double call_s) {
  if (++ended_ > row_.untimed && timed_s_.size() < timed_s_.capacity()) timed_s_.push_back(std::max(call_s, least_s));
}

void Trials::cut_short() {
  calls_ -= left_;
  row_calls_ -= std::exchange(left_, 0);
}

std::span<double> Trials::times() {
  if (timed_s_.empty() || times_[0] > 0) return times_;
  const double most_s = rows_.most * median(timed_s_);
  for (const double call_s : timed_s_) times_[0] += std::min(call_s, most_s);
  times_[0] /= static_cast<double>(timed_s_.size());
  return times_;
}

void Trials::learn() {
  Arm& arm = arms_[static_cast<std::size_t>(next_)];
  const bool timed = times_[0] > 0;
  const double call_s = timed ? times_[0] : elementary::exp(beliefs_[static_cast<std::size_t>(next_)].log_mean);
  const double waiting_s = std::max(0.0, -times_[1]);
  // A call that begins with a synchronisation may take far longer than ordinary calls if ranks share cores, so the time
  // per call in the pause bounds the usual time.
  const double each_s = std::max(0.0, -times_[2]) / static_cast<double>(pause_);
  if (rows_.together && (pause_ > 1 || between_s_ == 0)) between_s_ = each_s;
  double usual_s = elementary::exp(beliefs_[static_cast<std::size_t>(usual_)].log_mean);
  if (next_ == usual_) usual_s = call_s;
  if (between_s_ > 0) usual_s = std::min(usual_s, between_s_);
  waiting_s_ += waiting_s;
  cost_s_ += waiting_s + row_calls_ * std::max(0.0, call_s - usual_s) + (arm.prepared ? 0 : setup_s);
  const double known_s = seconds(next_) > 0 || !arm.known ? seconds(next_) : elementary::exp(arm.prior.log_mean);
  const bool first = !arm.called && row_.rough;
  if (!timed) {  // the trial is no sample
  } else if (!first || (row_.calls() == 1 && call_s < usual_s)) {
    add_sample(arm, call_s);  // connections have not made it shorter
  } else if (next_ != reference || elementary::log(call_s) < arm.prior.log_mean) {
    arm.first_s = call_s;  // a slow first call of the host MPI is ignored
  }
  arm.prepared = arm.called = true;
  const bool late = first && call_s > known_s;  // perhaps because of its connections
  if (watching_ && late)
    watched_ = watched_ == reference ? usual_ : reference;  // the measurement is repeated once more
  else if (watching_ && known_s > 0 && (call_s > other * known_s || known_s > other * call_s))
    return begin_anew(call_s);
  else if (watching_ && watched_ == reference) watched_calls_ = calls_;
  believe();
  change();
  plan();
}

void Trials::add_sample(Arm& arm, double call_s) {
  if (arm.samples.size() == most_samples) arm.samples.erase(arm.samples.begin());
  arm.samples.push_back(call_s);
}

bool Trials::has_evidence(int arm) const {
  const Arm& one = arms_[static_cast<std::size_t>(arm)];
  return !one.samples.empty() || one.known || one.first_s > 0;
}

/// Makes the arm with the least expected time the usual one, if it was tried and is certainly faster. The reference
/// needs less evidence: users would have it without trials, so leaving it requires more.
void Trials::change() {
  const auto expected = [this](int arm) { return beliefs_[static_cast<std::size_t>(arm)].log_mean; };
  const auto unsure = [this](int arm) { return beliefs_[static_cast<std::size_t>(arm)].deviation; };
  const double behind = expected(usual_) - expected(reference);
  if (has_evidence(reference) && behind > -elementary::log(by_reference) &&
      behind > sure_of_reference * elementary::hypot(unsure(reference), unsure(usual_)))
    usual_ = reference;
  const double enough = usual_ == reference ? sure_of_other : sure_of_ours;
  int best = usual_;
  for (int arm = 0; arm < static_cast<int>(arms_.size()); ++arm) {
    const double faster = expected(usual_) - expected(arm);
    if (has_evidence(arm) && expected(arm) < expected(best) && faster > -elementary::log(margin) &&
        faster > enough * elementary::hypot(unsure(arm), unsure(usual_)))
      best = arm;
  }
  usual_ = best;
}

/// Discards all measurements but the last: the times have changed.
void Trials::begin_anew(double call_s) {
  for (Arm& arm : arms_) arm.samples.clear(), arm.known = false, arm.first_s = -1;
  add_sample(arms_[static_cast<std::size_t>(next_)], call_s);
  watched_calls_ = calls_;
  early_calls_ = granted_early_calls_;
  believe();
  plan();
}

Compared::Compared(const Trials& of, std::span<const Expectation> arms) : trials(of) {
  const auto seconds = [&](int arm) {
    const Expectation& known = arms[static_cast<std::size_t>(arm)];
    return trials.seconds(arm) > 0 ? trials.seconds(arm) : known.calls > 0 ? known.seconds() : -1;
  };
  usual_s = seconds(trials.usual());
  if (trials.usual() != Trials::reference) {
    other = arms[Trials::reference].spec;
    other_s = seconds(Trials::reference);
    return;
  }
  for (int arm = 1; arm < static_cast<int>(arms.size()); ++arm) {
    const double tried_s = trials.seconds(arm);
    if (tried_s <= 0 || (other_s > 0 && tried_s >= other_s)) continue;
    other = arms[static_cast<std::size_t>(arm)].spec;
    other_s = tried_s;
  }
}

std::string Compared::text(std::string_view what) const {
  const auto measured = [](double time_s) { return time_s > 0 ? microseconds(time_s) : std::string("not measured"); };
  const std::string name = other.family == Family::native ? "the host MPI" : to_text(other);
  const bool alone = trials.usual() == Trials::reference && other_s <= 0;
  return "online choice" + std::string(what) + ": " + measured(usual_s) +
         (alone ? "" : ", " + name + " " + measured(other_s)) + "; " + std::to_string(trials.trials()) + " trials in " +
         std::to_string(trials.calls()) + " calls";
}

}  // namespace swapmeet
