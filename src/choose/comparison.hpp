/// Online tuning of exchanges that the application starts, and completes later. It compares two schedules. The usual
/// one sends few messages in several steps, each of which waits until this rank calls MPI. A schedule of a single step
/// can be completed by the network while the program computes. Which is better depends on what the program does between
/// start and completion. So the sample is the time from one exchange to the next, with all computation and waiting in
/// between, and not the time of a call, for which Trials (trials.hpp) would be the rule. This file uses neither MPI nor
/// a clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace swapmeet {

/// The comparison of the two schedules. All ranks make the same exchanges in the same order and agree on times, so that
/// they hold the same state. A losing schedule is used for five of the first sixteen exchanges, and is tried again after
/// longer and longer pauses.
class Comparison {
 public:
  enum class Arm : std::size_t { usual, single };

  /// `share`: fraction of the time of all exchanges that a losing schedule may cost.
  explicit Comparison(double share);

  /// Counts an exchange that begins `since_s` seconds after the one before it.
  void begins(double since_s);

  /// Whether the ranks must agree on times between begins() and next(): the mean of each of times_ns() over the ranks is
  /// to be passed to learn().
  bool awaits_learning() const { return !ended_ && left_ == 0; }
  std::array<std::int64_t, 2>
  times_ns();  ///< of each schedule on this rank; integers, whose sum is the same everywhere
  /// Returns whether a schedule was chosen. Otherwise the comparison goes on.
  bool learn(double usual_s, double single_s);

  Arm arm() const { return arm_; }  ///< schedule of the exchange that begins
  /// Returns that schedule, and counts the exchange as begun.
  Arm next();

  /// Whether no schedule is being tried, and the chosen schedule, for exchanges that do not count.
  bool paused() const { return paused_; }
  Arm chosen() const { return chosen_; }

  /// Uses the usual schedule from now on.
  void end();

 private:
  /// A sequence of exchanges by one schedule. The first `uncounted` of them are not timed.
  struct Block {
    Arm arm;
    int exchanges, uncounted;
  };
  /// The sequences of one comparison. A single step gains most once the ranks start together, and messages bring them
  /// to this in some twenty exchanges.
  static constexpr std::array<Block, 4> blocks = {
      {{Arm::usual, 10, 4}, {Arm::single, 5, 2}, {Arm::single, 40, 24}, {Arm::usual, 16, 4}}};
  /// Number of blocks after which a schedule that loses clearly is dropped.
  static constexpr std::size_t first_judged = 2;

  bool is_first_judgement() const { return block_ + 1 == first_judged; }
  void enter(std::size_t block);
  void pause();
  std::vector<double>& times_of(Arm arm) { return times_s_[static_cast<std::size_t>(arm)]; }

  Arm arm_ = Arm::usual, chosen_ = Arm::usual;
  std::size_t block_ = 0;
  int left_ = blocks[0].exchanges, pause_;
  bool paused_ = false, ended_ = false;
  bool counts_ = false;                         ///< the time of the last exchange counts
  std::array<std::vector<double>, 2> times_s_;  ///< for each arm, times in seconds from one exchange to the next
};

}  // namespace swapmeet
