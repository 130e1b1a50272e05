/// Certificates: bounds on the requests, peers and messages that a rank holds at a time, in every legal execution of an
/// exchange (model/ceiling.hpp), as small as they can be. They are computed from the schedules of all ranks.
///
/// Blocks are of equal size. The proof is in docs/proofs.md, "What an exchange holds at most". An independent check,
/// which shares no code with this one, is tests/core/certificate_test.py.
#pragma once

#include <span>

#include "model/ceiling.hpp"

namespace swapmeet {

struct Certificate {
  ExchangeBounds rank;  ///< maximum of each number over all ranks
  ExchangeBounds node;  ///< maximum over the nodes of the sum over a node's ranks
  /// True if some execution reaches each number of `rank`, except scratch_blocks, which is an upper bound for all
  /// ranks. If false, all numbers are upper bounds.
  bool exact = false;
};

/// Returns the certificate of the schedules of all ranks. It is exact unless granted messages have a sliding window.
/// Requires that verify() finds nothing. Cost: O(ranks · messages of all ranks), or O(ranks of a node · messages of all
/// ranks) if the ranks of equal nodes do the same.
Certificate certify(std::span<const Schedule> schedules, const Shape& shape);

/// Returns the certificate of a spec. It is exact where that takes less than a second: by certify(schedules), or, if
/// every rank does the same as the others, from one schedule (for up to some thousands of ranks). Otherwise it is
/// certified_ceiling(). Requires the same as ceiling().
Certificate certify(const Spec& spec, const Shape& shape);

/// Upper bounds for an exchange of unequal blocks: those of ceiling_of_unequal(), and one by sums of bytes.
struct UnequalBounds {
  ExchangeBounds rank;
  /// The bytes of early messages are also at most this number times the most bytes that any rank sends or receives.
  std::int64_t early_sums = 0;
};

/// Returns such bounds. Requires the same as ceiling_of_unequal().
UnequalBounds certified_unequal(const Spec& spec, const Shape& shape);

/// Returns the upper bounds of ceiling() for a rank and for a node.
Certificate certified_ceiling(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
