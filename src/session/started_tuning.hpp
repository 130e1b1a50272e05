/// Which schedule serves the non-blocking exchanges of one kind between nodes: that of blocking calls, of few messages in
/// several steps, each of which waits until this rank calls MPI; or one of a single step, which the network ends while the
/// program computes. Which costs less depends on what the program does between start and wait. So what counts is how long it takes
/// from one exchange to the next, all that it computes and waits for included.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "schedule/collective.hpp"

namespace swapmeet {

class Communicator;
struct Decision;
struct Spec;

/// Whether nothing of an exchange by `spec` waits for another part of it on the same rank.
bool is_single_step(const Spec& spec);

/// All ranks make the same exchanges in the same order, so that all do the same. One that loses takes five exchanges of the
/// first sixteen, and then of more and more.
class StartedTuning {
 public:
  /// `usual`: of several steps. Both live as long.
  StartedTuning(Communicator& communicator, Collective collective, Decision& usual);

  /// Another exchange begins, at `now_s`. Whether settle() is to be called before next(). Local.
  bool begins(double now_s);
  /// What the ranks must agree on. Collective.
  void settle();
  /// The decision for the exchange that begins.
  Decision& next();

  /// Whether nothing is tried now; and what was chosen, for an exchange that does not count.
  bool paused() const { return paused_; }
  Decision& chosen() { return decision(chosen_); }

 private:
  enum Arm : std::size_t { usual, single };
  /// Exchanges in a row by one of them, but for the first of which times are counted.
  struct Block {
    Arm arm;
    int exchanges, uncounted;
  };
  static constexpr std::array<Block, 6> blocks = {
      {{usual, 10, 4}, {single, 5, 2}, {usual, 16, 4}, {single, 16, 4}, {usual, 16, 4}, {single, 16, 4}}};
  static constexpr std::size_t first_judged = 2;  ///< blocks after which a loser is dropped

  void enter(std::size_t block);
  void judge();
  void pause();
  void end();
  Decision& decision(Arm arm);

  Communicator& communicator_;
  const Collective collective_;
  Decision& usual_;
  Decision* single_ = nullptr;  ///< not prepared yet; one without an exchange: it cannot be had
  Arm arm_ = usual;             ///< of the exchange that begins
  Arm chosen_ = usual;
  std::size_t block_ = 0;
  int left_ = blocks[0].exchanges, pause_;
  bool paused_ = false, ended_ = false;
  bool counts_ = false;  ///< whether the last exchange does
  double last_s_ = 0;
  std::array<std::vector<double>, 2> times_s_;  ///< from an exchange to the next
};

}  // namespace swapmeet
