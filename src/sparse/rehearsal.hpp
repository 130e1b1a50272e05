/// A sparse exchange of all ranks in one process: what it delivers is held against what was sent, and what a rank takes
/// for it is counted.
#pragma once

#include <string>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

/// What each rank sends: so many messages on average, of these sizes, to ranks that a seed chooses. Some go to the rank
/// itself, and some twice to one rank.
struct SparsePattern {
  double messages = 2;
  std::int64_t most_bytes = 16;
  std::uint64_t seed = 0;
};

struct SparseRehearsal {
  std::string problem;             ///< "": every message arrived once, whole and in order
  std::int64_t working_bytes = 0;  ///< of any rank at most: of the exchange, its route and what it received
  std::int64_t hops = 0;           ///< of a rank at most, where messages are passed on
  std::int64_t header_bytes = 0;   ///< of all ranks, in all hops
  std::int64_t messages = 0;       ///< of all ranks
};

/// Has all ranks make `calls` exchanges, one after the other, each rank at its own pace. Requires that `spec` says how
/// (Spec::sparse), and suits `shape`.
SparseRehearsal rehearse(const Spec& spec, const Shape& shape, const SparsePattern& pattern, std::uint32_t calls);

}  // namespace swapmeet
