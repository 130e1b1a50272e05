/// The merging of evidence of several runs, within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evidence/evidence.hpp"

namespace swapmeet {

/// Adds measured evidence to `known`. Evidence of the same kind, spec and measurer is combined, weighted by the number
/// of calls, each counted as at most `most_calls`: so new times prevail soon after a machine has changed. `made` is set
/// for all evidence of the kind to that of the last run; evidence of no calls adds only `made`.
void merge(std::vector<Evidence>& known, const Evidence& more);
inline constexpr std::int64_t most_calls = 100;

/// Drops the least useful evidence beyond the bounds: the slowest specs of a kind (never the host MPI), and the kinds
/// that were measured the longest time ago. The rest is in the order of kinds.
void keep_within_bounds(std::vector<Evidence>& evidence);
inline constexpr std::size_t most_specs_of_a_kind = 16, most_evidence = 1000;

}  // namespace swapmeet
