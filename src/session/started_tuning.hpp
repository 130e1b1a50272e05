/// Online tuning of non-blocking exchanges of one kind, or of those of a plan, between nodes (choose/comparison.hpp):
/// the agreement of the ranks, and the report of the result.
#pragma once

#include <functional>
#include <string>

#include "choose/comparison.hpp"
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

class StartedTuning {
 public:
  using Arm = Comparison::Arm;

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
  StartedTuning(Ranks ranks, Spec usual, std::function<bool()> make_single)
      : ranks_(std::move(ranks)), usual_(usual), make_single_(std::move(make_single)), comparison_(ranks_.share) {}

  /// Counts an exchange that starts at `now_s`, in seconds. Returns whether settle() must be called before next().
  /// Local.
  bool begins(double now_s);
  /// Agrees with the other ranks on the next step of the comparison. Collective.
  void settle();
  /// The schedule for the exchange that is starting. Local.
  Arm next() { return comparison_.next(); }

  /// Whether no schedule is being tried, and the chosen schedule, for exchanges that do not count.
  bool paused() const { return comparison_.paused(); }
  Arm chosen() const { return comparison_.chosen(); }

 private:
  bool lacks_single() const { return comparison_.arm() == Arm::single && !made_single_; }
  void judge();
  void report(double usual_s, double single_s) const;

  const Ranks ranks_;
  const Spec usual_;
  const std::function<bool()> make_single_;
  bool made_single_ = false;
  Comparison comparison_;
  double last_s_ = 0;  ///< start of the last exchange
};

}  // namespace swapmeet
