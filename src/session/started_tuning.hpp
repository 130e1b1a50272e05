/// Online tuning of non-blocking exchanges of one kind, or of those of a plan, between nodes. It compares two
/// schedules. The schedule of blocking calls sends few messages in several steps, each of which waits until this rank
/// calls MPI. A schedule of a single step can be completed by the network while the program computes. Which is better
/// depends on what the program does between start and wait. So the measure is the time from one exchange to the next,
/// with all computation and waiting in between.
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

/// Whether no part of an exchange by `spec` waits for another part of it on the same rank.
bool is_single_step(const Spec& spec);

/// The spec of a single step that is tried. It uses messages within nodes, too, because the ranks themselves must
/// complete transfers through shared memory.
Spec single_step();

/// The comparison of the two schedules. All ranks make the same exchanges in the same order, and so act alike. A losing
/// schedule is used for five of the first sixteen exchanges, and is tried again after longer and longer pauses.
class StartedTuning {
 public:
  enum class Arm : std::size_t { usual, single };

  /// The ranks that make the exchanges.
  struct Ranks {
    Peers peers;  ///< for agreements of the ranks; its team must outlive the tuning
    /// Number of ranks.
    Rank number;
    double share;       ///< part of the time of all exchanges that trials may cost
    std::string calls;  ///< name of the exchanges in a report of the result; "": no report
  };

  /// `usual`: a spec of several steps. `make_single`: prepares the exchange of single_step(), once, before it is first
  /// used. It is collective over the ranks, and returns on all ranks whether it has succeeded.
  StartedTuning(Ranks ranks, Spec usual, std::function<bool()> make_single);

  /// Notes the start of an exchange at `now_s`, in seconds. Returns whether settle() must be called before next().
  /// Local.
  bool begins(double now_s);
  /// Agrees with the other ranks on the next step of the comparison. Collective.
  void settle();
  /// The schedule for the exchange that is starting. Local.
  Arm next();

  /// Whether no schedule is being tried, and the chosen schedule, for exchanges that do not count.
  bool paused() const { return paused_; }
  Arm chosen() const { return chosen_; }

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
  Arm arm_ = Arm::usual;  ///< schedule of the exchange that is starting
  Arm chosen_ = Arm::usual;
  std::size_t block_ = 0;
  int left_ = blocks[0].exchanges, pause_;
  bool paused_ = false, ended_ = false;
  bool counts_ = false;  ///< the time of the last exchange counts
  double last_s_ = 0;
  std::array<std::vector<double>, 2> times_s_;  ///< for each arm, times in seconds from one exchange to the next
};

}  // namespace swapmeet
