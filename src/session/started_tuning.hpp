/// Which schedule serves the non-blocking exchanges of one kind, or those of a plan, between nodes: that of blocking calls, of few
/// messages in several steps, each of which waits until this rank calls MPI; or one of a single step, which the network ends while
/// the program computes. Which costs less depends on what the program does between start and wait. So what counts is how long it
/// takes from one exchange to the next, all that it computes and waits for included.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"
#include "team/peers.hpp"

namespace swapmeet {

/// Whether nothing of an exchange by `spec` waits for another part of it on the same rank.
bool is_single_step(const Spec& spec);

/// The spec of a single step that is tried; within nodes by MPI, too, for what goes through shared memory is finished by the
/// ranks themselves.
Spec single_step();

/// All ranks make the same exchanges in the same order, so that all do the same. One that loses takes five exchanges of the
/// first sixteen, and then of more and more.
class StartedTuning {
 public:
  enum class Arm : std::size_t { usual, single };

  /// Whose exchanges they are.
  struct Ranks {
    Peers peers;  ///< who agree; lives as long
    Rank number;
    double share;       ///< of the time of all exchanges, that trials may cost
    std::string calls;  ///< what to call them when the result is reported; "": it is not
  };

  /// `usual`: of several steps. `make_single`: prepares what executes single_step(), once, before it is first taken; collective
  /// over the ranks; whether that can be had, the same on all.
  StartedTuning(Ranks ranks, Spec usual, std::function<bool()> make_single);

  /// Another exchange begins, at `now_s`. Whether settle() is to be called before next(). Local.
  bool begins(double now_s);
  /// What the ranks must agree on. Collective.
  void settle();
  /// What the exchange that begins takes.
  Arm next();

  /// Whether nothing is tried now; and what was chosen, for an exchange that does not count.
  bool paused() const { return paused_; }
  Arm chosen() const { return chosen_; }

 private:
  /// Exchanges in a row by one of them, but for the first of which times are counted.
  struct Block {
    Arm arm;
    int exchanges, uncounted;
  };
  /// A single step hides most once the ranks start together, to which messages bring them in some twenty exchanges.
  static constexpr std::array<Block, 4> blocks = {
      {{Arm::usual, 10, 4}, {Arm::single, 5, 2}, {Arm::single, 40, 24}, {Arm::usual, 16, 4}}};
  static constexpr std::size_t first_judged = 2;  ///< blocks after which a loser is dropped

  void enter(std::size_t block);
  void judge();
  void report(double usual_s, double single_s) const;
  void pause();
  void end();
  std::vector<double>& times_of(Arm arm) { return times_s_[static_cast<std::size_t>(arm)]; }

  const Ranks ranks_;
  const Spec usual_;
  const std::function<bool()> make_single_;
  bool made_single_ = false;
  Arm arm_ = Arm::usual;  ///< of the exchange that begins
  Arm chosen_ = Arm::usual;
  std::size_t block_ = 0;
  int left_ = blocks[0].exchanges, pause_;
  bool paused_ = false, ended_ = false;
  bool counts_ = false;  ///< whether the last exchange does
  double last_s_ = 0;
  std::array<std::vector<double>, 2> times_s_;  ///< from an exchange to the next
};

}  // namespace swapmeet
