/// The parts of verify() that look at schedules without executing them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "verify/verify.hpp"

namespace swapmeet {

/// "rank 3, step 1"
std::string place(const Schedule& schedule, std::size_t step);

/// What stands above the steps: `schedule` is of rank `rank` of `ranks`, and cuts blocks as `first` does.
void check_head(const Schedule& schedule, Rank ranks, Rank rank, const Schedule& first, Verdict& verdict);

void check_bounds(const Schedule& schedule, Verdict& verdict);

/// No block written by one operation of a step is touched by another. Requires bounds.
void check_independence(const Schedule& schedule, Verdict& verdict);

struct BlockName {
  Rank source = 0, destination = 0;
};

/// Says that receive block `source` of `rank` ends with `found` (empty: nothing).
void misdelivered(Rank rank, Rank source, std::optional<BlockName> found, Verdict& verdict);

}  // namespace swapmeet
