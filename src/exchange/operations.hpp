/// The steps of a schedule as a flat list, for exchanges of small blocks, where looking things up costs as much as MPI.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// One of
///   copy   the row of blocks `from` to the row `to`
///   swap   one message of blocks side by side, `from`, to rank `destination`, and one from rank `source`, `to`
///   rows   the messages of a step, by rows of shared memory, if its blocks fit
///   step   whatever a step asks for
struct Operation {
  enum class Kind : std::uint8_t { copy, swap, rows, step };
  Kind kind = Kind::step;
  Run from{}, to{};
  Rank destination = 0, source = 0;
  std::size_t step = 0;  ///< that it belongs to
};

/// Of `schedule`, which must stay where it is. Empty steps are left out. `swaps`: whether messages can be swaps.
std::vector<Operation> operations_of(const Schedule& schedule, bool swaps);

}  // namespace swapmeet
