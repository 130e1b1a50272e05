/// Online tuning: finds out which algorithm is the fastest for calls of one kind while the application runs, and
/// decides when to try another one. This file uses neither MPI nor a clock: the caller gives the times. For blocking
/// calls they are the times of calls, for started exchanges the times from one start to the next.
///
/// Each algorithm is an arm. The first arm is the reference, which would serve the calls without trials: for blocking
/// calls it is the host MPI. The usual arm serves ordinary calls; a trial is a row of timed calls by any arm. The
/// value of a trial is the expected gain of the choice after it, over as many calls as there have been and `foreseen`
/// more. Its cost is the expected excess over the time of a usual call, plus the time that ranks wait for one another,
/// plus the preparation of an arm that was never executed. The trial with the most gain for its cost is made as soon as
/// its value exceeds its cost and the budget allows it. With T the time of all calls so far, and t that of a usual
/// call, the budget is:
///
///   cost of all trials <= share · T + min(early_factor · share · T, 100 · early_calls · share · t)
///
/// The second term is the early budget. Its early_factor is 10 if the usual arm is not the reference, or if an arm is
/// expected to take less than 0.9 of the usual time; else it is 1.5. Its early_calls are 4 if Pace grants as many as
/// usual. At a share of 1 % trials thus cost at most four calls beyond 1 % of the time, and at most 2.5 % of the time
/// as long as the reference is usual and no arm promises much.
///
/// The early budget is 0 if Pace grants none (early_calls = 0). It is also 0 if an earlier run has measured the usual
/// arm and the reference, no measured arm is expected to be faster than the usual one, and no other arm is expected to
/// take less than 0.9 of its time.
///
/// So an arm that is expected to take half the time is tried within the first calls, and an arm that has lost is not
/// tried again unless many calls make that worthwhile.
///
/// At every doubling of the number of calls from 1000 on, the usual arm and the reference are measured again;
/// measurements by earlier runs only are repeated after 250 calls. If one of the two has changed by more than a factor
/// of two, all measurements are discarded and online tuning starts again, with a new early budget. At a share of 1 and
/// more every other call is a trial, of each arm in turn.
///
/// If the usual arm is not the reference, and there is no measurement of the reference, it is measured after
/// `compared_after` calls, whatever that costs: users would have it without this library. At first it is not measured
/// so if it is expected to be slower than the usual arm by two standard deviations of their difference; once
/// measurements were repeated or discarded, that is no longer considered.
///
/// The sample of a trial is the mean time of the calls of its row. How many calls a row has, and how many of the first
/// ones are not timed, depends on the kind of calls (TrialRows).
///
/// The first call of an arm may make connections. In a row of one call it counts as a full sample if it took less than
/// usual, else it counts little; a longer row leaves it out. The first call of the reference, which may connect to every
/// rank, does not count if it took longer than expected.
///
/// Source:  gittins1989 is the exact rule for such problems; the gain of one more sample is the knowledge gradient of
///          frazier2008.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choose/expectation.hpp"

namespace swapmeet {

/// Whether an arm is expected to take less than 0.9 of the time of the reference, which is the first arm.
bool promise_much(std::span<const Expectation> arms);

/// The calls of one trial: `untimed` ones, then `timed` ones. If the row is `rough`, its time counts little.
struct TrialRow {
  int untimed = 0, timed = 1;
  bool rough = false;

  int calls() const { return untimed + timed; }
};

/// The rows of trials: of the usual arm, of the first trial of another arm, and of its later ones. `noise`: deviation of
/// the logarithm of a sample, as long as nothing is known. `most`: in the mean of a row a call counts at most as so many
/// times the median.
struct TrialRows {
  TrialRow usual{}, first{0, 1, true}, other{};
  double noise = 0.15, most = std::numeric_limits<double>::infinity();
  bool together = true;  ///< whether the ranks wait for one another before a row, so that its calls may take longer

  /// Rows of `calls` calls. Where ranks share cores a row has several: ranks that are done with one call begin the next
  /// while others still work, so a single call that all ranks begin together is not representative, nor is the median.
  static TrialRows of_calls(int calls) {
    return calls == 1 ? TrialRows{} : TrialRows{{0, calls}, {1, calls - 1}, {0, calls}};
  }
  /// Rows of exchanges that the application starts and completes later. A schedule of a single step can be completed by
  /// the network while the program computes, but it gains most once the ranks start together, and messages bring them
  /// to this in some twenty exchanges. So the first trial only shows whether it is far slower.
  static TrialRows of_starts() { return {{4, 12}, {2, 3, true}, {24, 21}, 0.05, 2, false}; }
};

/// The expectations for started exchanges: of the schedule that blocking calls would use, and of one of a single step.
/// The times are relative, because the program computes between two starts for a time that is unknown.
std::array<Expectation, 2> expectations_of_starts(const Spec& usual, const Spec& single);
/// The uncertainty of these expectations.
constexpr Doubt doubt_of_starts{.common = 20, .own = 0.3, .host = 0.3};

/// The state of online tuning for calls of one kind. All ranks make the same calls and agree on times, so that they
/// hold the same state.
class Trials {
 public:
  static constexpr int reference = 0;                 ///< index of the arm that would serve without trials
  static constexpr double setup_s = 1e-4;             ///< assumed cost of preparing an arm
  static constexpr double foreseen = 64;              ///< calls to come that are assumed from the beginning
  static constexpr std::int64_t compared_after = 16;  ///< calls before another usual arm is compared with the reference
  /// Usual size of the early budget, in usual calls: at a share of 1 %, trials may cost so many calls beyond 1 % of the
  /// time.
  static constexpr double early_calls = 4;

  struct Pace {
    std::int64_t calls = 0;  ///< number of calls before the object was made
    TrialRows rows{};
    double early_calls = Trials::early_calls;  ///< size of the early budget; 0: trials never cost more than their share
  };

  /// `share`: fraction of the time of all calls that trials may cost; above 0. `arms`: expected times, the reference
  /// first. `usual`: the arm of ordinary calls at first. No other function allocates memory: a rank that lacked it would
  /// let the others wait.
  Trials(double share, std::span<const Expectation> arms, int usual, const Doubt& doubt, const Pace& pace);

  /// Returns the number of usual calls before next() is to be called.
  std::int64_t pause() const { return pause_; }

  /// Begins a trial and returns its arm. On this rank it took `waiting_s` seconds until all ranks had arrived, and
  /// `since_s` from the end of the previous trial to the beginning of this one.
  int next(double waiting_s, double since_s);
  int coming() const { return next_; }  ///< the arm of next(), before the trial begins and until learn()
  int usual() const { return usual_; }

  int row_calls() const { return row_calls_; }  ///< number of calls of the current trial
  /// Number of those that have not begun.
  int left() const { return left_; }
  /// Counts a call of the trial that begins.
  void call_begins() { --left_; }
  /// Records that this call took `call_s` seconds on this rank. If no timed call of a trial is recorded, the trial is no
  /// sample.
  void took(double call_s);
  /// Ends the row of the trial, because no further calls of this kind come. The same on all ranks.
  void cut_short();

  /// Whether all calls of a trial have begun, and nothing is learned from it yet. When they are complete, and before the
  /// next trial, all ranks must replace each of times() by its maximum over the ranks, and call learn().
  bool awaits_learning() const { return in_trial_ && left_ == 0; }
  bool in_trial() const { return in_trial_; }  ///< from next() until learn()
  std::span<double> times();
  void learn();

  /// Returns the median of the samples of an arm, in seconds, each taken on the slowest rank. If there is no sample, it
  /// returns the time of the arm's first call. Negative: not measured here; measurements of earlier runs do not count.
  double seconds(int arm) const;
  /// Returns the number of samples of an arm.
  int samples(int arm) const { return static_cast<int>(arms_[static_cast<std::size_t>(arm)].samples.size()); }
  /// Returns the standard deviation of seconds(), in seconds.
  double spread_s(int arm) const;
  int trials() const { return trials_; }  ///< number of trials, including the current one
  /// Number of calls so far, including all calls of the current trial, but not those of the current pause.
  std::int64_t calls() const { return calls_; }
  double cost_s() const { return cost_s_; }  ///< cost of all trials with their preparation, in seconds

 private:
  static constexpr std::size_t most_samples = 32;  ///< of an arm: the last ones count

  struct Arm {
    Belief prior;        ///< distribution of the logarithm of seconds before any trial
    bool known = false;  ///< the prior rests on measurements
    bool prepared = false, called = false;
    double first_s = -1;  ///< time of the first row, if that is rough; used until there is a sample
    std::vector<double> samples{};
  };

  /// Whether the arm was measured: by this object, or before, for example by an earlier run.
  bool has_evidence(int arm) const;
  void add_sample(Arm& arm, double call_s);
  double median(std::span<const double> values) const;
  void believe();
  bool promising() const;
  bool may_be_faster(int arm) const;
  void plan();
  void change();
  void begin_anew(double call_s);
  double noise() const;
  double gain(std::size_t arm, double noise) const;  ///< in usual calls, per call to come
  double cost(std::size_t arm) const;                ///< in usual calls
  const TrialRow& row_of(int arm) const;

  double share_;
  TrialRows rows_;
  double granted_early_calls_, early_calls_ = 0;  ///< size of the early budget: as granted by Pace, and now
  bool remembered_ = false;                       ///< the first usual arm was measured by an earlier run
  Doubt doubt_;
  std::vector<Arm> arms_;
  std::vector<Measured> measured_;      ///< memory of believe()
  mutable std::vector<double> sorted_;  ///< memory of median()
  std::vector<Belief> beliefs_;         ///< of each arm, by all that is known now
  int usual_, next_ = 0, trials_ = 0;
  bool in_trial_ = false;        ///< true from next() until learn()
  TrialRow row_{};               ///< of the current trial
  int row_calls_ = 0;            ///< number of its calls, fewer than those of row_ if it was cut short
  int left_ = 0, ended_ = 0;     ///< calls of the current trial: not begun, and recorded
  std::vector<double> timed_s_;  ///< times of its timed calls
  /// Times of the trial, in seconds: of a call; of the waiting before it, negated; of the pause before that, negated.
  /// The maximum of a negated time over the ranks gives the least time of any rank.
  std::array<double, 3> times_{};
  std::int64_t pause_ = 0;          ///< number of usual calls before the next trial; in a trial: before it
  std::int64_t calls_ = 0;          ///< as calls()
  std::int64_t watched_calls_ = 0;  ///< number of calls at the last repeated measurement
  bool watching_ = false;           ///< the current trial repeats a measurement
  int watched_ = reference;         ///< the arm last measured again; alternates between the usual arm and the reference
  double between_s_ = 0;            ///< time per call in pauses, the program's computing included; 0: unknown
  double cost_s_ = 0, waiting_s_ = 0;  ///< sums over all trials: as cost_s(), and the waiting in it
};

/// The comparison of the usual arm of `trials` with another one: with the reference, or, if that is usual, with the
/// fastest other arm that was tried. `arms`: the expectations with which the trials began.
struct Compared {
  Compared(const Trials& trials, std::span<const Expectation> arms);

  /// Returns "online choice: 12.1 us, the host MPI 15.3 us; 45 trials in 6000 calls". `what`: text before the colon.
  std::string text(std::string_view what) const;
  /// Whether both were measured, here or earlier.
  explicit operator bool() const { return usual_s > 0 && other_s > 0; }

  const Trials& trials;
  Spec other{};                       ///< spec of the other arm
  double usual_s = -1, other_s = -1;  ///< times in seconds; negative: not measured
};

}  // namespace swapmeet
