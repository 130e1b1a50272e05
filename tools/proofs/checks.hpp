/// The parts of verify() that inspect schedules without executing them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "proofs/verify.hpp"

namespace swapmeet {

/// Returns a text such as "rank 3, step 1".
std::string place(const Schedule& schedule, std::size_t step);

/// Checks the head of a schedule: it belongs to rank `rank` of `ranks`, and cuts blocks into the same segments as
/// `first`.
void check_head(const Schedule& schedule, Rank ranks, Rank rank, const Schedule& first, Verdict& verdict);

/// Checks that every peer, buffer and block number exists, and that nothing writes to the send buffer.
void check_bounds(const Schedule& schedule, Verdict& verdict);

/// Checks that no operation of a step accesses a block that another one of the step writes. Requires check_bounds().
void check_independence(const Schedule& schedule, Verdict& verdict);

/// A block, by the ranks that send and receive it.
struct BlockName {
  Rank source = 0, destination = 0;
};

/// Adds the finding that receive block `source` of `rank` ends with `found` (nullopt: nothing).
void misdelivered(Rank rank, Rank source, std::optional<BlockName> found, Verdict& verdict);

}  // namespace swapmeet
