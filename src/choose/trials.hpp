/// Online tuning: finds out which algorithm is the fastest for calls of one kind while the application runs, and
/// decides when to try another one. This file uses neither MPI nor a clock.
///
/// Each algorithm is an arm. The usual arm serves ordinary calls; a trial is a timed call, or several, by any arm. The
/// value of a trial is the expected gain of the choice after it, over as many calls as there have been and `foreseen`
/// more. Its cost is the expected excess over the time of a usual call, plus the time that ranks wait for one another,
/// plus the preparation of an arm that was never executed. The trial with the most gain for its cost is made as soon as
/// its value exceeds its cost and the budget allows it. With T the time of all calls so far, and t that of a usual
/// call, the budget is:
///
///   cost of all trials <= share · T + min(early_factor · share · T, 100 · early_calls · share · t)
///
/// The second term is the early budget. Its early_factor is 10 if the usual arm is not the host MPI, or if an arm is
/// expected to take less than 0.9 of the usual time; else it is 1.5. Its early_calls are 4 if Pace grants as many as
/// usual. At a share of 1 % trials thus cost at most four calls beyond 1 % of the time, and at most 2.5 % of the time
/// as long as the host MPI is usual and no arm promises much.
///
/// The early budget is 0 if Pace grants none (early_calls = 0). It is also 0 if an earlier run has measured the usual
/// arm and the host MPI, no measured arm is expected to be faster than the usual one, and no other arm is expected to
/// take less than 0.9 of its time.
///
/// So an arm that is expected to take half the time is tried within the first calls, and an arm that has lost is not
/// tried again unless many calls make that worthwhile.
///
/// At every doubling of the number of calls from 1000 on, the usual arm and the host MPI are measured again;
/// measurements by earlier runs only are repeated after 250 calls. If one of the two has changed by more than a factor
/// of two, all measurements are discarded and online tuning starts again, with a new early budget. At a share of 1 and
/// more every other call is a trial, of each arm in turn.
///
/// If the usual arm is not the host MPI, and there is no measurement of the host MPI, it is measured after
/// `compared_after` calls, whatever that costs: users would have it without this library. At first it is not measured
/// so if it is expected to be slower than the usual arm by two standard deviations of their difference; once
/// measurements were repeated or discarded, that is no longer considered.
///
/// If ranks share cores, a trial is several calls in a row. Ranks that are done with one call begin the next while
/// others still work, so a single call that all ranks begin together is not representative.
///
/// The first call of an arm may make connections. It counts as a full sample if it took less than usual. Else it counts
/// little, or not at all if others follow in a row. The first call of the host MPI, which may connect to every rank,
/// does not count if it took longer than expected.
///
/// Source:  gittins1989 is the exact rule for such problems; the gain of one more sample is the knowledge gradient of
///          frazier2008.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "choose/expectation.hpp"

namespace swapmeet {

/// Whether an arm is expected to take less than 0.9 of the time of the host MPI, which is the first arm.
bool promise_much(std::span<const Expectation> arms);

/// The state of online tuning for calls of one kind. All ranks make the same calls and agree on times, so that they
/// hold the same state.
class Trials {
 public:
  static constexpr int native = 0;                    ///< index of the host MPI's arm
  static constexpr double setup_s = 1e-4;             ///< assumed cost of preparing an arm
  static constexpr double foreseen = 64;              ///< calls to come that are assumed from the beginning
  static constexpr std::int64_t compared_after = 16;  ///< calls before another usual arm is compared with the host MPI
  /// Usual size of the early budget, in usual calls: at a share of 1 %, trials may cost so many calls beyond 1 % of the
  /// time.
  static constexpr double early_calls = 4;

  struct Pace {
    std::int64_t calls = 0;                    ///< number of calls before the object was made
    int in_a_row = 1;                          ///< number of calls of one trial
    double early_calls = Trials::early_calls;  ///< size of the early budget; 0: trials never cost more than their share
  };

  /// `share`: fraction of the time of all calls that trials may cost; above 0. `arms`: expected times, the host MPI
  /// first. `usual`: the arm of ordinary calls at first.
  Trials(double share, std::span<const Expectation> arms, int usual, const Doubt& doubt, const Pace& pace);

  /// Returns the number of usual calls before next() is to be called.
  std::int64_t pause() const { return pause_; }

  /// Begins a trial and returns its arm.
  int next();
  int coming() const { return next_; }  ///< the arm of next(), before the trial begins and until learn()
  /// Whether the trial begins with the arm's first call.
  bool first() const { return !arms_[static_cast<std::size_t>(next_)].called; }
  int usual() const { return usual_; }

  /// Records the times of the trial on this rank, in seconds. `waiting_s`: time until all ranks had arrived. `call_s`:
  /// mean time of a call; of several calls in a row, the arm's first() call is left out. `since_s`: time from the end
  /// of the previous trial to the beginning of this one. If took() is not called, the trial is no sample.
  void took(double waiting_s, double call_s, double since_s);

  /// Shortens the trial to `calls` calls, because no further calls of this kind come. The same on all ranks.
  void cut_short(int calls);

  /// Whether a trial has begun from which nothing is learned yet: true from next() until learn(). When the calls of the
  /// trial are complete, and before the next trial, all ranks must replace each of times() by its maximum over the
  /// ranks, and call learn().
  bool awaits_learning() const { return awaits_learning_; }
  std::span<double> times() { return times_; }
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
  struct Arm {
    Belief prior;        ///< distribution of the logarithm of seconds before any trial
    bool known = false;  ///< the prior rests on measurements
    bool prepared = false, called = false;
    double first_s = -1;  ///< time of the first call; used until there is a sample
    std::vector<double> samples{};
  };

  /// Whether the arm was measured: by this object, or before, for example by an earlier run.
  bool has_evidence(int arm) const;
  void believe();
  bool promising() const;
  bool may_be_faster(int arm) const;
  void plan();
  void change();
  void begin_anew(double call_s);
  double noise() const;
  double gain(std::size_t arm, double noise) const;  ///< in usual calls, per call to come
  double cost(std::size_t arm) const;                ///< in usual calls

  double share_;
  int in_a_row_;
  double granted_early_calls_, early_calls_ = 0;  ///< size of the early budget: as granted by Pace, and now
  bool remembered_ = false;                       ///< the first usual arm was measured by an earlier run
  Doubt doubt_;
  std::vector<Arm> arms_;
  std::vector<Belief> beliefs_;  ///< of each arm, by all that is known now
  int usual_, next_ = 0, trials_ = 0;
  bool awaits_learning_ = false;
  /// Times of the trial, in seconds: of a call; of the waiting before it, negated; of the pause before that, negated.
  /// The maximum of a negated time over the ranks gives the least time of any rank.
  std::array<double, 3> times_{};
  int row_ = 1;                     ///< number of calls of the trial
  std::int64_t pause_ = 0;          ///< number of usual calls before the next trial; in a trial: before it
  std::int64_t calls_ = 0;          ///< as calls()
  std::int64_t watched_calls_ = 0;  ///< number of calls at the last repeated measurement
  bool watching_ = false;           ///< the current trial repeats a measurement
  int watched_ = native;            ///< the arm last measured again; alternates between the usual arm and the host MPI
  double between_s_ = 0;            ///< time per call in pauses, the program's computing included; 0: unknown
  double cost_s_ = 0, waiting_s_ = 0;  ///< sums over all trials: as cost_s(), and the waiting in it
};

}  // namespace swapmeet
