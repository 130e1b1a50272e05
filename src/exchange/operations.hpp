/// The steps of a schedule as a flat list of operations. With small blocks, a lookup in the schedule would cost as much
/// as MPI.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// An operation is one of
///   copy   copies the run of blocks `from` to the run `to`
///   swap   sends one message, the contiguous blocks `from`, to rank `destination`, and receives one from rank `source`
///          into `to`
///   step   executes a step by the engine
struct Operation {
  enum class Kind : std::uint8_t { copy, swap, step };
  Kind kind = Kind::step;
  Run from{}, to{};
  Rank destination = 0, source = 0;
  std::size_t step = 0;  ///< index of the step that the operation belongs to
};

/// The operations of `schedule`, which must stay in place. Empty steps are left out. `swaps`: whether messages can
/// become swaps.
std::vector<Operation> operations_of(const Schedule& schedule, bool swaps);

}  // namespace swapmeet
