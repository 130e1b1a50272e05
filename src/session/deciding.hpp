/// The way of a call to its decision, the same for blocking and started calls: an algorithm is chosen, online tuning may
/// try another one, the ranks agree on the sizes of blocks, and the decision is explained when it is first used.
#pragma once

#include "session/call.hpp"
#include "session/decision.hpp"

namespace swapmeet {

class Communicator;

/// The part of a call in online tuning.
struct CallTuning {
  OnlineTuning* counts = nullptr;   ///< tuning that counts the next blocking calls of this kind; nullptr: none
  OnlineTuning* trial = nullptr;    ///< tuning for which this blocking call is a timed trial; nullptr: it is none
  StartedTuning* starts = nullptr;  ///< tuning of this started call; nullptr: none
  bool counted = false;             ///< it has counted the call
  bool settles = false;             ///< it must agree with the other ranks before the exchange
};

/// Whether decide() needs no other rank for a call that has been started. Counts the call in online tuning, so it is to
/// be called once. Local.
bool decides_alone(const Call& call, Communicator& communicator, CallTuning& tuning);

/// The decision for `call`, the same on all ranks. Collective over the communicator when a decision is first used, and
/// in each call for which the ranks agree on the sizes of blocks or on trials; otherwise local.
Decision& decide(const Call& call, Communicator& communicator, Begun begun, CallTuning& tuning);

}  // namespace swapmeet
