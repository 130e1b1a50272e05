/// Online tuning: trials of other algorithms in the running application (choose/trials.hpp), for the calls of one kind
/// on one communicator.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/collective.hpp"
#include "choose/trials.hpp"

namespace swapmeet {

class Communicator;
struct Decision;
class Team;

/// Agrees with the other ranks on the times of the trial that is over, and learns from it. Collective.
void learn_from(Trials& trials, Team& team);

/// The online tuning of calls for which no algorithm was set. All ranks make these calls, with equal blocks of one size
/// or with unequal blocks, and so take the same decisions.
class OnlineTuning {
 public:
  /// `usual`: the decision for the first calls. `others`: whether other algorithms are tried; if not, each rank only
  /// measures its own calls. `now_direct`: whether the calls' blocks can be read directly by node peers, as in Tunings;
  /// the ranks update it. `usual` and `now_direct` must outlive this object.
  OnlineTuning(Communicator& communicator, Collective collective, std::int64_t block_bytes, Decision& usual,
               bool others, bool& now_direct);

  /// Counts a call. Returns whether next() must decide on it; otherwise usual() serves it. Local.
  bool due() { return pause_ <= 0 || --pause_ <= 0; }
  Decision& usual() { return trials_ ? arm(trials_->usual()) : usual_; }

  /// The decision for a call with blocks of `block_bytes` bytes (0: unequal ones), in which this rank sends
  /// `sent_bytes` bytes in total. `direct`: whether node peers can read the blocks directly. If the call is a trial or
  /// timed, under_way() is true until ends() is called after the call. Collective.
  Decision& next(std::int64_t block_bytes, std::uint64_t sent_bytes, bool direct);
  bool under_way() const { return under_way_; }
  void ends();

  /// Number of calls so far, at least.
  std::int64_t calls() const;

  /// Times of calls on this rank, in seconds, without the first call. Measured only if no other algorithm is tried.
  std::span<const double> timed_s() const { return timed_s_; }

 private:
  void pause();
  Trials::Pace pace() const;
  Decision& timed();
  bool begin(double block_bytes, double sent_bytes, bool direct);
  CallKind kind_of_calls() const;
  Decision& tried();
  bool like_others(double bytes);
  void change_reference(double bytes);
  void prepare();
  void learn();
  std::int64_t mean_bytes() const;
  /// The decision of an arm. Prepares it if necessary; then collective.
  Decision& arm(int number);

  Communicator& communicator_;
  const Collective collective_;
  Decision& usual_;
  const bool others_, direct_;
  bool& now_direct_;
  std::optional<Trials> trials_;         ///< nothing: too few calls so far
  std::vector<Expectation> known_;       ///< expected time of each arm when trials began
  std::vector<Decision*> arms_;          ///< nullptr: not prepared
  std::int64_t first_calls_;             ///< number of calls before the first trial
  std::int64_t pause_, paused_for_ = 0;  ///< calls until next() decides again, and length of the whole pause
  double reference_bytes_ = -1;          ///< bytes of the calls that trials are made of; negative: none yet
  /// Number of consecutive calls that should have been trials, but had other sizes.
  int unlike_ = 0;
  int changes_ = 0;  ///< number of changes of reference_bytes_ that restarted the trials
  bool under_way_ = false, explained_ = false;
  double paused_s_, began_s_ = 0, waiting_s_ = 0, since_s_ = 0;
  std::vector<double> timed_s_;
};

}  // namespace swapmeet
