/// Counts the messages K and the blocks D of a rank in an exchange. Families without a closed form are counted in their
/// schedules.
///
/// Closed forms remain because a choice compares about a hundred specs. It takes 0.1 ms for 64 ranks on nodes of 8, 1 ms
/// for 1024 on nodes of 32, and 13 ms for 16384 on nodes of 64. The schedule of one rank would take 0.01, 0.1 to 0.25
/// and 1 to 6 ms, for each spec (AMD EPYC, 2026-11-29, d97e52fc, processor time of loops).
///
/// In one dimension of n places, the digit of weight b and radix r has the value z in
///   h(z) = floor(n / (b·r))·b + min(max(n mod (b·r) - z·b, 0), b)
/// of the offsets 0..n-1. So a rank sends h(z) blocks in round (digit, z), and at most ceil(n / b) - 1 messages in the
/// digit. With b = r^x h(z) is the count of `tra` and `radix`, and the sums over all rounds are
/// the numbers that are known for them:
///   K = w(r-1) - floor((r^w - P) / r^(w-1)),   D = number of non-zero base-r digits of 0..P-1.
/// The formula also holds for mixed radices. On a grid of P places, each offset of a dimension of n places stands for
/// P/n offsets: K is the sum over the dimensions, and D is the sum of D_j·P/n_j.
///                                                                              [checked by tests/core/counts_test.py]
///
/// If places are proxies (groups of unequal size: topology/arrangement.hpp), ranks differ and there is no closed form.
/// The blocks of every place are then counted, and the results are the largest numbers of any rank.
///
/// An exchange by leaders (algorithms/leaders.cpp) has two dimensions, members and nodes, without digits.
/// On N nodes of Q ranks, with k leaders and groups of G = Q/k ranks, a leader has
///   K = (Q-1) + (k-1) + (N-1) + (G-1),   D = (Q-1) + (N-1)·((k-1)·G + Q·G + (G-1)·Q).
/// On nodes of any size each leader is counted, and the results are the largest numbers of any rank.
///                                                                             [checked by tests/core/leaders_test.py]
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/spec.hpp"

namespace swapmeet {

struct Counts {
  std::vector<std::int32_t> sizes;  ///< of the dimensions; for leaders: ranks of the largest node, number of nodes
  std::int64_t messages = 0;        ///< K: number of messages that a rank sends
  std::int64_t blocks = 0;          ///< D: number of blocks in these messages
  /// Whether ranks differ, because some places are proxies or some ranks lead. Each number is then the largest of any
  /// rank.
  bool ranks_differ = false;
};

/// Whether counts and work of a spec are closed forms. Otherwise they are counted in the schedules of all ranks, or in
/// that of one rank if all ranks have the same flow relative to their place.
bool has_closed_form(const Spec& spec);

/// Returns the counts of one rank for the whole exchange. O(digits); with proxies O(places · sum of the sizes ·
/// digits); for leaders O(ranks + nodes · leaders of all nodes).
/// Requires that spec.family is not Family::native and that unsuitable(spec, shape) is empty.
Counts count(const Spec& spec, const Shape& shape);

/// Returns the messages and blocks of a schedule.
Counts count(const Schedule& schedule);

}  // namespace swapmeet
