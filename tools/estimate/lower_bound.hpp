/// A lower bound on the time of any exchange in the model of NetworkEstimate (estimate/estimate.hpp), whatever its
/// schedule: docs/proofs.md, "Lower bounds".
///
/// An exchange has d rounds (steps, if windows slide) and K messages, where K is the sum over the rounds of the most
/// messages that a rank sends. With j messages the data of a rank reach at most e_1 + ... + e_j ranks, where e_j is the
/// number of ways to choose one message in each of j of the rounds, at most C(d,j)·(K/d)^j. So K messages in d rounds
/// carry at least a certain number D of blocks of a rank: with few messages blocks are sent several times. The bound is
/// the least cost of d rounds, K messages and D blocks, over all d and K.
///
/// Source:  bruck1997 (rounds, and bytes of exchanges of few rounds); Maclaurin's inequality; docs/proofs.md
#pragma once

#include <array>
#include <string_view>

#include "estimate/estimate.hpp"
#include "network/link_bound.hpp"

namespace swapmeet {

/// Returns the least number of blocks that a rank sends, on average, in an exchange with this number of rounds and
/// messages; infinity if they do not reach all ranks.
double least_blocks(Rank ranks, std::int64_t rounds, double messages);

/// The cause of a part of the bound.
enum class Limit : std::uint8_t { call, latency, messages, nic, links, memory };
inline constexpr std::array<std::string_view, 6> limit_names{"call", "latency", "messages", "nic", "links", "memory"};

/// The machine on which an exchange runs. Node i has the ranks from i·per_node on.
struct Site {
  Rank ranks = 1, per_node = 1;
  LinkBound links;         ///< for this number of ranks on each of the first hosts
  std::int32_t ports = 0;  ///< limit on messages that a rank sends, or receives, in a round; 0: no limit
  /// Restricts the bound to exchanges in which no rank receives more than P - 1 blocks in a round, as when all ranks do
  /// the same. Other exchanges can let a few ranks receive large messages, whose receives cost the core nothing.
  bool balanced = false;
};

struct LowerBound {
  double us = 0;
  /// for each limit: the time that it alone requires of every exchange
  std::array<double, limit_names.size()> alone_us{};
  /// for each limit: its part of the least cost, which is at the following numbers of rounds, and of messages and
  /// blocks of a rank
  std::array<double, limit_names.size()> parts_us{};
  std::int64_t rounds = 0;
  double messages = 0, blocks = 0;
  Limit binding = Limit::call;  ///< the largest part
};

/// Returns the bound for blocks of `block_bytes`. Takes milliseconds.
LowerBound lower_bound(const Site& site, const NetworkCosts& costs, std::int64_t block_bytes);

}  // namespace swapmeet
