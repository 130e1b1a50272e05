/// Trials of other algorithms on the running application (choose/trials.hpp), for the calls of one kind on one
/// communicator.
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

/// Makes the decisions for calls that have been left to the automatic choice. All ranks make these calls, with blocks
/// of the same size, or of unequal ones, so that all ranks do the same.
class OnlineTuning {
 public:
  /// `usual`: what calls take at first. Both live as long. `others`: whether anything else is tried; else each rank for
  /// itself measures what calls take. `now_direct`: whether this is of calls whose blocks are copied directly, as Tunings has
  /// it; it lives as long, and becomes what the ranks find.
  OnlineTuning(Communicator& communicator, Collective collective, std::int64_t block_bytes, Decision& usual,
               bool others, bool& now_direct);

  /// Counts a call. Whether next() is to be asked what it takes, not usual(). Local.
  bool due() { return pause_ <= 0 || --pause_ <= 0; }
  Decision& usual() { return trials_ ? arm(trials_->usual()) : usual_; }

  /// The decision for a call with blocks of so many bytes (unequal ones: 0), in which this rank sends so many in all, `direct`:
  /// from memory that the other ranks of the node copy directly.
  /// If the call is a trial, under_way() is true until ends() is called, when the call is over. Collective.
  Decision& next(std::int64_t block_bytes, std::uint64_t sent_bytes, bool direct);
  bool under_way() const { return under_way_; }
  void ends();

  /// How many there were, at least.
  std::int64_t calls() const;

  /// What calls took on this rank, but for the first one, if nothing else is tried: seconds.
  std::span<const double> timed_s() const { return timed_s_; }

 private:
  void pause();
  int in_a_row() const;
  Trials::Pace pace() const;
  Decision& timed();
  bool begin(double block_bytes, double sent_bytes, bool direct);
  CallKind kind_of_calls() const;
  Decision& tried();
  void cut_short();
  void trial_ends();
  bool like_others(double bytes);
  void change_reference(double bytes);
  void prepare();
  void learn();
  void explain();
  double seconds(int arm) const;
  std::int64_t mean_bytes() const;
  /// Prepared, if it was not: then collective.
  Decision& arm(int number);

  Communicator& communicator_;
  const Collective collective_;
  Decision& usual_;
  const bool others_, direct_;
  bool& now_direct_;
  std::optional<Trials> trials_;         ///< nothing: too few calls so far
  std::vector<Expectation> known_;       ///< of each arm, when trials began
  std::vector<Decision*> arms_;          ///< nullptr: not prepared
  std::int64_t first_calls_;             ///< before any trial
  std::int64_t pause_, paused_for_ = 0;  ///< calls until next() is asked, and of the pause as a whole
  double reference_bytes_ = -1;          ///< trials are made of calls like the first one
  int unlike_ = 0;                       ///< calls that were to be trials, but were not like it
  int changes_ = 0;                      ///< of it, that began trials anew
  bool under_way_ = false, told_ = false;
  int left_ = 0, ended_ = 0;  ///< calls of the trial: that are to come, and that are over
  double paused_s_, began_s_ = 0, waiting_s_ = 0, since_s_ = 0;
  double calls_s_ = 0;  ///< of those that are over and count
  std::vector<double> timed_s_;
};

}  // namespace swapmeet
