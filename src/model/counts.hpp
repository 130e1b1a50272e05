/// What an exchange costs, without making its schedule: messages K, blocks D and scratch of a rank, as closed forms.
///
/// In one dimension of n places, the digit of weight b and radix r has the value z in
///   h(z) = floor(n / (b·r))·b + min(max(n mod (b·r) - z·b, 0), b)
/// of the offsets 0..n-1, so a rank sends so many blocks in round (digit, z), and ceil(n / b) - 1 messages at most in
/// the digit. With b = r^x that is the count of `tra` and `radix`, and the sums over all rounds are their
///   K = w(r-1) - floor((r^w - P) / r^(w-1)),   D = number of non-zero base-r digits of 0..P-1.
/// It holds for mixed radices just as well. On a grid of P places each offset of a dimension of n places stands for P/n
/// offsets: K is the sum over the dimensions, D the sum of D_j·P/n_j.              [checked by
///                                                                                 tests/core/counts_test.py]
///
/// Where places are proxies (groups of unequal size: topology/arrangement.hpp) ranks differ and there is no closed
/// form: the blocks of every place are counted, and the largest numbers of any rank are given.
///
/// An exchange by leaders (algorithms/leaders.cpp) has two dimensions, of members and of nodes, without digits. Its
/// rounds are those of algorithms/phase.hpp: a position z in dimension 0, digit 0 (gather), then in dimension 1
/// (exchange), then in dimension 0, digit 1 (scatter). On N nodes of Q ranks, with k leaders and groups of G = Q/k
/// ranks, a leader has
///   K = (Q-1) + (k-1) + (N-1) + (G-1),   D = (Q-1) + (N-1)·((k-1)·G + Q·G + (G-1)·Q).
/// On any nodes each leader is counted, and the largest numbers of any rank are given.  [checked by
/// tests/core/leaders_test.py]
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

/// The messages of a rank for the value z of one digit.
struct RoundCounts {
  std::int32_t dimension = 0;
  std::int32_t digit = 0;     ///< x, within the dimension; 0 is the least significant
  std::int32_t weight = 1;    ///< in places along the dimension; r^x if all radices are equal
  std::int32_t value = 1;     ///< z
  std::int64_t messages = 0;  ///< 1, unless places are proxies, messages are staggered, or there are leaders
  std::int64_t blocks = 0;    ///< in these messages
};

struct Counts {
  std::vector<std::int32_t> sizes;  ///< of the dimensions; leaders: ranks of the largest node, nodes
  std::vector<Radices> radices;     ///< of the digits of each dimension, least significant first
  std::int64_t messages = 0;        ///< that a rank sends: K
  std::int64_t blocks = 0;          ///< in them: D
  std::int64_t grants = 0;          ///< empty messages that a rank sends besides, so that others may send theirs
  /// of messages in flight together, one after the other; K if the window is 1 (leaders: of positions)
  std::int64_t batches = 0;
  std::int64_t scratch_blocks = 0;  ///< room for so many is enough; a rank's schedule says what that rank needs
  /// ranks differ (some places are proxies, or some ranks lead): each number is the largest of any
  bool ranks_differ = false;
};

/// Whether counts and work of a spec are closed forms; of others they are counted in the schedules of all ranks, or of
/// one where all do alike.
bool has_closed_form(const Spec& spec);

/// Of one rank, for the whole exchange. O(digits); with proxies O(places · sum of the sizes · digits); of
/// leaders O(ranks + nodes · leaders of all nodes).
/// Requires spec.family != Family::native and unsuitable(spec, shape) empty.
Counts count(const Spec& spec, const Shape& shape);

/// The same, round by round, in the order in which the digits go by. O(rounds). A direct exchange has a round for each
/// peer.
std::vector<RoundCounts> count_rounds(const Spec& spec, const Shape& shape);

}  // namespace swapmeet
