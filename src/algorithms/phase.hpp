/// Messages that are exchanged together by ranks of which some have more of them than others.
///
/// Every message has a height, the same at both ends. With complete=any and test the window is of messages. With
/// complete=all, batches of so many messages could wait for one another in a circle: there a step holds `window`
/// heights, all in flight. So a phase has as many steps on every rank.
#pragma once

#include <utility>
#include <vector>

#include "schedule/builder.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

using Runs = std::vector<Run>;

struct Parcel {
  Rank peer = 0;
  std::int32_t height = 0;  ///< 1 or more
  bool last = false;        ///< see Message
  Runs blocks{};
};

/// What a rank does in a phase.
struct Phase {
  std::int32_t heights = 0;  ///< the largest of any rank; 0: there are no messages
  /// messages are contiguous, if need be by copies in a step before and one behind; on all ranks
  bool packs = false;
  std::int32_t stage = 0;  ///< scratch is free from here on
  /// by height; of one height those of two ranks in the same order at both
  std::vector<Parcel> outgoing{}, incoming{};
  std::vector<std::pair<Runs, Runs>> copies{};  ///< from, to: independent of the messages
};

/// A run whose stride is 1 if it is of a single block.
Run run_of(Buffer buffer, std::int32_t first, std::int32_t count, std::int32_t stride = 1);

/// Adds the steps of a phase. Returns the scratch that they need.
std::int32_t add_phase(ScheduleBuilder& plan, const Spec& spec, const Phase& phase);

}  // namespace swapmeet
