/// Online tuning of non-blocking exchanges of one kind, or of those of a plan, between nodes. It compares the schedule
/// that blocking calls would use, which sends few messages in several steps, with one of a single step. Which is better
/// depends on what the program does between start and completion, so the samples of the trials are the times from one
/// start to the next.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "choose/trials.hpp"
#include "mpi/mpi.hpp"
#include "schedule/spec.hpp"
#include "team/team.hpp"

namespace swapmeet {

struct Decision;
struct Members;

/// Whether no part of an exchange by `spec` waits for another part of it on the same rank.
bool is_single_step(const Spec& spec);

/// The spec of a single step that is tried. It uses messages within nodes, too, because the ranks themselves must
/// complete transfers through shared memory.
Spec single_step();

class StartedTuning {
 public:
  /// Of exchanges of `members`, which agree in `team`, which must outlive this object. An explanation of the
  /// result begins with `name`. `usual`: by a spec of several steps. `make_single`: makes the decision for single_step(),
  /// once, before it is first used. It is collective over the ranks, and returns nullptr on all ranks if one has failed.
  /// Both decisions must outlive this object.
  StartedTuning(const Members& members, Team& team, const std::string& name, Decision& usual,
                std::function<Decision*()> make_single);

  /// Counts an exchange that starts at `now_s`, in seconds. Returns whether settle() must be called before next().
  /// Local.
  bool begins(double now_s);
  /// Agrees with the other ranks on the next step of the trials. Collective.
  void settle();
  /// The decision for the exchange that is starting. Local.
  Decision& next();

  /// Whether no schedule is being tried, and the chosen one, for exchanges that do not count.
  bool paused() const { return !trials_.in_trial(); }
  Decision& chosen() const { return by(trials_.usual()); }

 private:
  Decision& by(int arm) const { return arm == Trials::reference ? usual_ : *single_; }
  bool lacks_single() const { return trials_.left() > 0 && trials_.coming() != Trials::reference && !single_; }
  void learn();

  Team& team_;
  const std::string calls_;  ///< name of the exchanges in an explanation of the result; "": no explanation
  Decision& usual_;
  Decision* single_ = nullptr;  ///< nullptr: not made yet
  const std::array<Expectation, 2> arms_;
  const std::function<Decision*()> make_single_;
  Trials trials_;
  std::int64_t pause_;                ///< exchanges by the chosen schedule before the next trial
  bool failed_ = false;               ///< the exchange of a single step could not be made: there are no more trials
  bool tried_ = false;                ///< the last exchange belongs to a trial
  bool explained_ = false;            ///< the first comparison was explained
  double last_s_ = 0, paused_s_ = 0;  ///< starts of the last exchange, and of the first one in the pause
};

}  // namespace swapmeet
