/// Certificates: upper bounds on the requests, peers and messages that a rank holds at a time, in every legal execution
/// of an exchange. They are computed from its schedules before it runs.
///
/// An execution is legal if each message is sent at its start (buffered) or when both ends have started it
/// (rendezvous). Ranks may advance at any speed, and exchanges of the same kind follow one another without end. Blocks
/// are of equal size. The proof is in docs/proofs.md, "What an exchange holds at most". An independent check, which
/// shares no code with this one, is tests/core/certificate_test.py.
#pragma once

#include <cstdint>
#include <span>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Certificate {
  struct Bounds {
    std::int64_t requests = 0;        ///< outstanding sends and receives at a time
    std::int64_t peers = 0;           ///< distinct ranks that the rank sends to or receives from
    std::int64_t early_messages = 0;  ///< messages that have arrived before their receives are posted, at a time
    std::int64_t early_blocks = 0;    ///< blocks in such messages, at a time
    std::int64_t scratch_blocks = 0;  ///< working memory
    bool operator==(const Bounds&) const = default;
  };
  Bounds rank;  ///< maximum of each number over all ranks
  Bounds node;  ///< maximum over the nodes of the sum over a node's ranks
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
/// ceiling(). Requires spec.family != Family::native, and unsuitable(spec, shape) to be empty.
Certificate certify(const Spec& spec, const Shape& shape);

/// Returns upper bounds in closed form, for any number of ranks. It costs as much as count().
Certificate ceiling(const Spec& spec, const Shape& shape);

/// Upper bounds for an exchange of unequal blocks, whose sizes only their ends know.
struct UnequalBounds {
  /// The bytes of early messages, apart from transmitted sizes, are at most early_blocks times the largest block;
  /// likewise for scratch.
  Certificate::Bounds rank;
  /// The bytes of early messages are also at most this number times the most bytes that any rank sends or receives.
  std::int64_t early_sums = 0;
};

/// Returns upper bounds in closed form. Requires that no block is empty, or that ranks agree on sizes
/// (agreement_bytes(spec) > 0), and the same as certify().
UnequalBounds ceiling_of_unequal(const Spec& spec, const Shape& shape);

/// The size of an entry in a queue of unexpected messages, and the largest size of an entry with its data. MPIs send no
/// more than that before the receive is posted (the largest standard limit of Open MPI is 64 KiB, of btl tcp).
inline constexpr std::int64_t early_entry_bytes = 512, most_early_bytes = std::int64_t{64} << 10;

/// Returns an upper bound on the memory of early messages, in bytes, for blocks of `block_bytes`.
std::int64_t early_bytes(const Certificate::Bounds& bounds, std::int64_t block_bytes);

}  // namespace swapmeet
