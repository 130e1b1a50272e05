/// Upper bounds, in closed form, on the requests, peers and messages that a rank holds at a time, in every legal
/// execution of an exchange.
///
/// An execution is legal if each message is sent at its start (buffered) or when both ends have started it
/// (rendezvous). Ranks may advance at any speed, and exchanges of the same kind follow one another without end. The
/// proof is in docs/proofs.md, "What an exchange holds at most". Exact numbers, from the schedules of all ranks, are
/// those of tools/proofs/certificate.hpp.
#pragma once

#include <cstdint>

#include "schedule/spec.hpp"

namespace swapmeet {

struct ExchangeBounds {
  std::int64_t requests = 0;        ///< outstanding sends and receives at a time
  std::int64_t peers = 0;           ///< distinct ranks that the rank sends to or receives from
  std::int64_t early_messages = 0;  ///< messages that have arrived before their receives are posted, at a time
  std::int64_t early_blocks = 0;    ///< blocks in such messages, at a time
  std::int64_t scratch_blocks = 0;  ///< working memory; ceiling() leaves it to tools/proofs/scratch.hpp
  bool operator==(const ExchangeBounds&) const = default;
};

struct Ceiling {
  ExchangeBounds rank;  ///< of any rank
  /// Whether some execution reaches each number of `rank`, except scratch_blocks.
  bool exact = false;
};

/// Returns upper bounds for blocks of equal size, for any number of ranks. It costs as much as count(). Requires
/// spec.family != Family::native, and unsuitable(spec, shape) to be empty.
Ceiling ceiling(const Spec& spec, const Shape& shape);

/// Returns upper bounds for an exchange of unequal blocks, whose sizes only their ends know. The bytes of early messages,
/// apart from transmitted sizes, are at most early_blocks times the largest block; likewise for scratch. Requires that no
/// block is empty, or that ranks agree on sizes (agreement_bytes(spec) > 0), and the same as ceiling().
ExchangeBounds ceiling_of_unequal(const Spec& spec, const Shape& shape);

/// The size of an entry in a queue of unexpected messages, and the largest size of an entry with its data. MPIs send no
/// more than that before the receive is posted (the largest standard limit of Open MPI is 64 KiB, of btl tcp).
inline constexpr std::int64_t early_entry_bytes = 512, most_early_bytes = std::int64_t{64} << 10;

/// Returns an upper bound on the memory of early messages, in bytes, for blocks of `block_bytes`.
std::int64_t early_bytes(const ExchangeBounds& bounds, std::int64_t block_bytes);

}  // namespace swapmeet
