/// A sparse exchange of simulated ranks in one process, for tests. It compares the delivered messages with those that
/// were sent, and counts the resources that a rank needs.
#pragma once

#include <string>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

/// The messages that each rank sends: their average number and largest size. A seed chooses the destinations. Some
/// messages go to the rank itself, and some ranks get two from one source.
struct SparsePattern {
  double messages = 2;
  std::int64_t most_bytes = 16;
  std::uint64_t seed = 0;
  /// Whether all hops of the first call are lost, so that no rank expects the messages that are sent directly, and
  /// whether these are late (SparseMail::lose_hops()). The first call is then not checked. Messages of different calls
  /// have different sizes.
  bool loses_hops = false, late = false;
};

/// The result of rehearse().
struct SparseRehearsal {
  std::string problem;             ///< "" if every message arrived once, complete and in order
  std::int64_t working_bytes = 0;  ///< maximum over all ranks, with the route and the received messages
  std::int64_t hops = 0;           ///< maximum over all ranks, if messages are forwarded
  std::int64_t header_bytes = 0;   ///< sum over all ranks and hops
  std::int64_t messages = 0;       ///< sum over all ranks
};

/// Executes `calls` consecutive exchanges of all ranks, each rank at its own pace. Requires that `spec` names a sparse
/// exchange (Spec::sparse) that suits `shape`.
SparseRehearsal rehearse(const Spec& spec, const Shape& shape, const SparsePattern& pattern, std::uint32_t calls);

}  // namespace swapmeet
