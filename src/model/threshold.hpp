/// Which blocks of a non-uniform exchange had better be sent directly to their destination.
///
/// A message costs a start-up and its bytes; a block that is passed on costs its bytes once more for each hop. Blocks
/// are counted in classes: class 0 holds the empty ones, class c those of 2^(c-1) to 2^c - 1 bytes. With n_c the most
/// blocks of class c that any rank sends or receives, m_c = 3·2^(c-2) their middle size, A the bytes that a start-up is
/// worth, and h = D/(P-1) the hops of a block on average, the threshold after class t costs, in bytes,
///   sum over c > t of n_c·(A + m_c)  +  (K·A + sum over c <= t of n_c·h·m_c, unless these n_c are all 0)
/// and the t of the least cost is taken: none (all blocks sent directly) for sparse exchanges, all for small blocks.
#pragma once

#include <array>
#include <cstdint>

#include "schedule/spec.hpp"

namespace swapmeet {

inline constexpr std::size_t size_classes = 50;

/// For each class, a number of blocks.
using SizeClasses = std::array<std::int64_t, size_classes>;

/// The class of a block of so many bytes.
std::size_t size_class(std::int64_t bytes);

/// What the schedule costs that carries the other blocks: messages K (those with sizes included) and hops h.
struct Forwarding {
  double messages = 0;
  double hops = 1;
};

/// Of a spec of the family bruck, or of any that is padded. The same on every rank.
Forwarding forwarding(const Spec& spec, const Shape& shape);

/// The largest block that is passed on, in bytes: 0 if all are sent directly.
std::int64_t direct_threshold(const SizeClasses& most, const Forwarding& forwarding);

/// What all ranks know of the sizes in one call.
struct Agreed {
  std::int64_t largest = 0;       ///< bytes of the largest block that is not sent directly; 0 where nobody asked
  std::int64_t direct_bytes = 0;  ///< blocks of more bytes are sent directly
  /// Bytes of every block for another rank, if none is empty or sent directly; 0 where they differ or nobody asked.
  std::int64_t each = 0;
};

/// Agreed::each, where blocks for other ranks have `least` to `largest` bytes.
std::int64_t size_of_each(std::int64_t least, std::int64_t largest, std::int64_t direct_bytes);

/// Bytes that ranks must exchange to agree on the sizes of a call under `spec`; 0: none.
std::int64_t agreement_bytes(const Spec& spec);

/// The threshold of `spec` where it is not automatic, such that no block that is passed on has more than `bound` bytes.
Agreed agreed_without(const Spec& spec, std::int64_t bound);

/// The same where it is automatic, by the classes of all ranks.
Agreed agreed_by(const SizeClasses& most, const Forwarding& forwarding, std::int64_t bound);

/// Behind each padded block that the host MPI exchanges: whether its source has failed.
inline constexpr std::int64_t padded_flag_bytes = 1;

/// Whether no block that is not sent directly has more than `bound` bytes, or more than a padded exchange can count.
bool within(const Agreed& agreed, const Spec& spec, std::int64_t bound);

}  // namespace swapmeet
