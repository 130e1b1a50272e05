/// What an exchange holds at most, in every legal execution: certified before it runs, from its schedules.
///
/// Legal is every execution in which a message is sent at its start (buffered) or when both ends have started it
/// (rendezvous), ranks advance at any speed, and exchanges of the same kind follow one another without end. Blocks are
/// of equal size. Proof: docs/proofs.md, "What an exchange holds at most"; the witness, which shares no code with this,
/// is tests/core/certificate_test.py.
#pragma once

#include <cstdint>
#include <span>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Certificate {
  struct Bounds {
    std::int64_t requests = 0;        ///< outstanding at a time, sends and receives
    std::int64_t peers = 0;           ///< distinct ranks that it sends to or receives from
    std::int64_t early_messages = 0;  ///< that have arrived while their receives are not posted, at a time
    std::int64_t early_blocks = 0;    ///< in such messages, at a time
    std::int64_t scratch_blocks = 0;  ///< working memory
    bool operator==(const Bounds&) const = default;
  };
  Bounds rank;  ///< of the rank that has most, each number by itself
  Bounds node;  ///< summed over the ranks of a node, of the node that has most
  /// Some execution reaches each number of `rank` but scratch_blocks, which are enough for every rank; otherwise all are
  /// upper bounds.
  bool exact = false;
};

/// Of all ranks, exact. Requires that verify() finds nothing. O(ranks · messages of all); where ranks of equal nodes do
/// alike, O(ranks of a node · messages of all).
Certificate certify(std::span<const Schedule> schedules, const Shape& shape);

/// Exact where that takes less than a second: by certify(schedules), or from one schedule where every rank does what the
/// others do, for some thousands of ranks; otherwise ceiling(). Requires spec.family != Family::native and
/// unsuitable(spec, shape) empty.
Certificate certify(const Spec& spec, const Shape& shape);

/// Upper bounds in closed form, for any number of ranks. O(what count() takes).
Certificate ceiling(const Spec& spec, const Shape& shape);

/// The same of an exchange whose blocks have unequal sizes, known to their ends alone: upper bounds in closed form.
struct UnequalBounds {
  /// Early bytes, but for the sizes of blocks, are at most early_blocks times the largest block; scratch likewise.
  Certificate::Bounds rank;
  /// And at most so many times the most that any rank sends, or receives.
  std::int64_t early_sums = 0;
};

/// Requires that no block is empty, or that ranks agree on sizes (agreement_bytes(spec) > 0); and what certify() does.
UnequalBounds ceiling_of_unequal(const Spec& spec, const Shape& shape);

/// What an entry in a queue of unexpected messages takes, and what an entry takes with its data at most: MPIs send no more
/// than that before the receive is posted (the largest standard limit of Open MPI is 64 KiB, of btl tcp).
inline constexpr std::int64_t early_entry_bytes = 512, most_early_bytes = std::int64_t{64} << 10;

/// Room that messages which arrive early may take, in bytes, if blocks have so many bytes.
std::int64_t early_bytes(const Certificate::Bounds& bounds, std::int64_t block_bytes);

}  // namespace swapmeet
