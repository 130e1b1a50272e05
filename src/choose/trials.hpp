/// Which of several algorithms is the fastest for one kind of call, found out while the application runs: now and then
/// one call goes by another algorithm than usual. Nothing here touches MPI or a clock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace swapmeet {

/// All ranks make the same calls, agree on times, and so do the same; the random order comes from the seed.
///
/// At first the usual algorithm alone is timed, until the time of all calls is worth preparing others (`arms`). Then
/// every arm is tried in three rounds, fewer arms each time and more often (successive halving, jamieson2016). Calls
/// take the fastest from then on, or the host MPI if that is as fast. Rarely these two are compared again, and if
/// the times are not what they were, all begins anew.
class Trials {
 public:
  static constexpr int native = 0;         ///< the arm that is the host MPI
  static constexpr double setup_s = 2e-3;  ///< what it is assumed to cost to prepare the arms

  /// `share`: of the time of all calls, that trials may cost, waiting for one another included; above 0. As long as
  /// nothing is known, a trial is taken to cost two calls.
  Trials(double share, std::uint64_t seed);

  /// Calls that go as usual before the next trial.
  std::int64_t pause() const { return pause_; }

  /// Whether it is time to say how many arms there are, and which of them calls take now.
  bool wants_arms() const { return stage_ == Stage::preparing; }
  void begin(int arms, int usual);

  /// The arm of the trial that begins now; and that of other calls. Both are 0 as long as there is only the usual
  /// algorithm.
  int next();
  int usual() const { return usual_; }

  /// What the trial took on this rank: to wait until all ranks had come, and then the call. (Not told: no time at all.)
  /// `since_s`: from what ended the pause before until the trial began: more than the calls of the pause took.
  void took(double waiting_s, double call_s, double since_s);

  /// Whether no trial of the round is left. Then all ranks are to replace each of times() by the most of any rank, and
  /// learn().
  bool round_over() const { return next_ == round_.size(); }
  std::span<double> times() { return times_; }
  /// The arm of each trial of the round; its call took times()[3 * i].
  std::span<const int> round() const { return round_; }
  void learn();

  /// Whether the fastest is known, as far as that goes.
  bool settled() const { return stage_ == Stage::watching; }
  /// The median time of an arm, on the rank that was slowest; negative: it was never tried.
  double seconds(int arm) const;
  int trials() const { return trials_; }
  std::int64_t calls() const { return calls_; }  ///< so far
  double cost_s() const { return cost_s_; }      ///< of all trials, preparing included

 private:
  enum class Stage { looking, preparing, trying, watching };

  void start();
  void price_calls();
  void plan_round(std::vector<int> arms, int samples, double share);
  void drop_slow_arms(double factor);
  void change(double margin);
  void compare_again();

  Stage stage_ = Stage::looking;
  double share_;
  std::uint64_t seed_;
  int usual_ = 0, round_number_ = 0, trials_ = 0;
  std::size_t next_ = 0;       ///< in round_
  std::vector<int> round_;     ///< arms in the order of their trials
  std::vector<double> times_;  ///< of each trial of the round: the call; the waiting and the pause before, negative
  std::vector<std::vector<double>> samples_;  ///< of each arm
  std::vector<int> alive_;
  std::int64_t pause_ = 0, calls_ = 0;
  std::int64_t watch_calls_ = 0;  ///< the least number of calls until the next comparison is over
  double call_s_ = 0;             ///< as usual, where trials do not make ranks wait for one another; at most
  double between_s_ = 0;          ///< two calls in pauses, the program's computing included; 0: not known
  double settled_s_ = 0, cost_s_ = 0, waiting_s_ = 0;
};

}  // namespace swapmeet
