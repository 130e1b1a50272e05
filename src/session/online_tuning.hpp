/// Trials of other algorithms on the running application (choose/trials.hpp), for the calls of one kind on one
/// communicator.
#pragma once

#include <cstdint>
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
  /// `usual`: what calls take at first. Both live as long.
  OnlineTuning(Communicator& communicator, Collective collective, Decision& usual, std::uint64_t seed);

  /// Counts a call. Whether next() is to be asked what it takes, not usual(). Local.
  bool due() { return pause_ <= 0 || --pause_ <= 0; }
  Decision& usual() { return arms_.empty() ? usual_ : *arms_[static_cast<std::size_t>(trials_.usual())]; }

  /// The decision for a call with blocks of so many bytes (unequal ones: 0), in which this rank sends so many in all.
  /// If the call is a trial, under_way() is true until ends() is called, when the call is over. Collective.
  Decision& next(std::int64_t block_bytes, std::uint64_t sent_bytes);
  bool under_way() const { return under_way_; }
  void ends();

 private:
  void pause();
  bool begin(double block_bytes, double sent_bytes);
  bool like_others(double bytes);
  void prepare();
  void learn();
  void remember();

  Communicator& communicator_;
  const Collective collective_;
  Decision& usual_;
  Trials trials_;
  std::vector<Decision*> arms_;
  std::int64_t pause_;
  double reference_bytes_ = -1;  ///< trials are made of calls like the first one
  int unlike_ = 0;               ///< calls that were to be trials, but were not like it
  bool under_way_ = false;
  double paused_s_, began_s_ = 0, waiting_s_ = 0, since_s_ = 0;
};

}  // namespace swapmeet
