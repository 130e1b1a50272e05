/// Decides which blocks of a non-uniform exchange are sent directly to their destination instead of being forwarded.
///
/// A message costs a start-up and its bytes. A forwarded block costs its bytes once for each hop. Blocks are counted in
/// classes: class 0 holds the empty ones, class c those of 2^(c-1) to 2^c - 1 bytes. Let n_c be the largest number of
/// blocks of class c that any rank sends or receives, m_c = 3·2^(c-2) their middle size, A the bytes that take as long
/// as a start-up, and h = D/(P-1) the mean number of hops of a block. If blocks up to class t are forwarded, the cost
/// in bytes is
///   sum over c > t of n_c·(A + m_c)  +  (K·A + sum over c <= t of n_c·h·m_c, unless these n_c are all 0)
/// The t with the least cost is taken. If few blocks have data, all blocks are sent directly; if all blocks are small,
/// all are forwarded.
#pragma once

#include <array>
#include <cstdint>

#include "schedule/spec.hpp"

namespace swapmeet {

inline constexpr std::size_t size_classes = 50;

/// Number of blocks in each class.
using SizeClasses = std::array<std::int64_t, size_classes>;

/// Returns the class of a block of so many bytes.
std::size_t size_class(std::int64_t bytes);

/// Cost of the schedule that forwards blocks: messages K (including those with sizes) and hops h.
struct Forwarding {
  double messages = 0;
  double hops = 1;
};

/// Returns the cost for a spec of the family bruck, or for any padded spec. The same on every rank.
Forwarding forwarding(const Spec& spec, const Shape& shape);

/// Returns the size of the largest forwarded block in bytes, or 0 if all blocks are sent directly.
std::int64_t direct_threshold(const SizeClasses& most, const Forwarding& forwarding);

/// The sizes of one call, as far as all ranks know them.
struct Agreed {
  /// bytes of the largest block that is not sent directly; 0 if not determined
  std::int64_t largest = 0;
  std::int64_t direct_bytes = 0;  ///< blocks of more bytes are sent directly
  /// Bytes of every block for another rank, if these blocks are equal and none is empty or sent directly. 0 if they
  /// differ or if not determined.
  std::int64_t each = 0;
};

/// Returns Agreed::each for blocks for other ranks of `least` to `largest` bytes.
std::int64_t size_of_each(std::int64_t least, std::int64_t largest, std::int64_t direct_bytes);

/// Returns the number of bytes that ranks must exchange to agree on the sizes of a call under `spec`; 0: they need not
/// agree.
std::int64_t agreement_bytes(const Spec& spec);

/// Returns the threshold of `spec` if it is not automatic. No forwarded block has more than `bound` bytes, unless no
/// block is sent directly (Direct::never).
Agreed agreed_without(const Spec& spec, std::int64_t bound);

/// Returns the threshold if it is automatic, from the classes of all ranks. No forwarded block has more than `bound`
/// bytes.
Agreed agreed_by(const SizeClasses& most, const Forwarding& forwarding, std::int64_t bound);

/// Size of the flag behind each padded block that the host MPI exchanges: whether its source has failed.
inline constexpr std::int64_t padded_flag_bytes = 1;

/// Whether no block that is not sent directly has more than `bound` bytes, or more bytes than a padded exchange can
/// count.
bool within(const Agreed& agreed, const Spec& spec, std::int64_t bound);

}  // namespace swapmeet
