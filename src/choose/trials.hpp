/// Which of several algorithms calls of one kind take, and when one of them is tried: found out while the application runs.
/// Nothing here touches MPI or a clock.
///
/// A trial is worth what the choice after it is expected to gain on calls to come, as many as there have been, and
/// `foreseen` more. It costs what it is expected to take longer than a call as usual, the waiting of ranks for one another,
/// and preparing what was never executed. The trial with the most gain for its cost is made, as soon as it is worth more
/// than it costs, and as the budget allows it:
///
///   cost of all trials <= share · (time of all calls so far) + min(early · share · (the same), 400 · share · (a call))
///
/// where early is 10 if what is usual is ours, or something is expected to take less than 0.9 of it, else 1.5. That is at
/// 1 %: at most four calls more than 1 % of the time, 2.5 % as long as calls go to the host MPI and nothing is expected to gain
/// much, and none more where Pace gives none, or an earlier run has measured what is usual and the host MPI, and nothing else
/// is expected to take less than 0.9 of the usual time. So what is expected to take half the time is tried within the first
/// calls, and what has lost is not tried again, unless many calls make it worth it. At every doubling of calls from 1000 on,
/// the usual algorithm and the host MPI are measured again; what only earlier runs have measured, after 250 calls. If either
/// is not what it was, all begins anew, with as many calls more. At a share of 1 and more every other call is a trial, of each
/// arm in turn.
///
/// The host MPI is what there would be without us: where ours is usual, and it may well be faster, it is measured after
/// `compared_after` calls, whatever that costs.
///
/// Where ranks share cores, a trial is several calls in a row: ranks that are done with one begin the next, while others
/// still work. What one call takes, if all begin it together, tells little there.
///
/// The first call of an arm may make connections. It counts as others do if it took less than usual, else little, or not at
/// all where others follow in a row; of the host MPI, which may make one to every rank, it does not count if it took longer
/// than expected.
///
/// Source:  gittins1989 is the exact rule for such questions; the gain of one more sample is the knowledge gradient of
///          frazier2008.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "choose/expectation.hpp"

namespace swapmeet {

/// Whether something is expected to take less than 0.9 of the time of the host MPI, which comes first.
bool promise_much(std::span<const Expectation> arms);

/// All ranks make the same calls, agree on times, and so do the same.
class Trials {
 public:
  static constexpr int native = 0;                    ///< the arm that is the host MPI
  static constexpr double setup_s = 1e-4;             ///< what it is assumed to cost to prepare an arm
  static constexpr double foreseen = 64;              ///< calls to come that are expected at once
  static constexpr std::int64_t compared_after = 16;  ///< calls, ours is compared with the host MPI
  static constexpr double early_calls = 4;  ///< calls that trials may cost beyond 1 % of the time, at a share of 1 %

  struct Pace {
    std::int64_t calls = 0;      ///< so far
    int in_a_row = 1;            ///< calls of one trial
    double early = early_calls;  ///< 0: trials never cost more than their share
  };

  /// `share`: of the time of all calls, that trials may cost; above 0. `arms`: what each is expected to take, the host MPI
  /// first. `usual`: what calls take at first.
  Trials(double share, std::span<const Expectation> arms, int usual, const Doubt& doubt, const Pace& pace);

  /// Calls that go as usual before next() is to be asked.
  std::int64_t pause() const { return pause_; }

  /// The arm of the trial that begins now.
  int next();
  int coming() const { return next_; }  ///< the same, before it begins and until it is learnt from
  /// Whether it begins with the arm's first call.
  bool first() const { return !arms_[static_cast<std::size_t>(next_)].called; }
  int usual() const { return usual_; }

  /// What the trial took on this rank: to wait until all ranks had come, and then each call; if it is one of several in a
  /// row, without the first() one. (Not told: the trial is no sample.)
  /// `since_s`: from what ended the pause before until the trial began.
  void took(double waiting_s, double call_s, double since_s);

  /// Only so many calls of the trial were made, for such calls do not come any more: on all ranks the same.
  void cut_short(int calls);

  /// Whether a trial is over. Then all ranks are to replace each of times() by the most of any rank, and learn().
  bool over() const { return over_; }
  std::span<double> times() { return times_; }
  void learn();

  /// The median time of an arm, on the rank that was slowest; negative: it was never tried. And how often it was.
  double seconds(int arm) const;
  int samples(int arm) const { return static_cast<int>(arms_[static_cast<std::size_t>(arm)].samples.size()); }
  /// The deviation of that.
  double spread_s(int arm) const;
  int trials() const { return trials_; }
  std::int64_t calls() const { return calls_; }  ///< so far
  double cost_s() const { return cost_s_; }      ///< of all trials, preparing included

 private:
  struct Arm {
    Belief prior;        ///< of the logarithm of seconds, before any trial
    bool known = false;  ///< by measurements
    bool prepared = false, called = false;
    double first_s = -1;  ///< its first call: counts until there is another
    std::vector<double> samples{};
  };

  bool tried(int arm) const;
  void believe();
  bool promising() const;
  bool may_be_faster(int arm) const;
  void plan();
  void change();
  void begin_anew(double call_s);
  double noise() const;
  double gain(std::size_t arm, double noise) const;
  double cost(std::size_t arm) const;

  double share_;
  int in_a_row_;
  double early_, early_calls_ = 0;  ///< at each beginning, and as it is
  bool remembered_ = false;         ///< what was usual at first, by an earlier run
  Doubt doubt_;
  std::vector<Arm> arms_;
  std::vector<Belief> beliefs_;  ///< of each arm, by what is known now
  int usual_, next_ = 0, trials_ = 0;
  bool over_ = false;
  std::array<double, 3> times_{};  ///< of the trial: the call; the waiting and the pause before, negative
  int row_ = 1;                    ///< calls of the trial
  std::int64_t pause_ = 0, paused_ = 0, calls_ = 0;
  std::int64_t watched_calls_ = 0;  ///< at the last look at what is known
  bool watching_ = false;           ///< the trial under way is such a look
  int watched_ = native;
  double between_s_ = 0;  ///< two calls in pauses, the program's computing included; 0: not known
  double cost_s_ = 0, waiting_s_ = 0;
};

}  // namespace swapmeet
