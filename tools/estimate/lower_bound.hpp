/// What no exchange can be faster than, in the model of NetworkEstimate (model/estimate.hpp), whatever its schedule:
/// docs/proofs.md, "Lower bounds".
///
/// An exchange has d rounds (steps, where windows slide) and K messages: the sum over rounds of what the rank with the most
/// sends. Within j messages the data of a rank reach at most e_1 + ... + e_j ranks, e_j being the number of ways through
/// j of the rounds, which is at most C(d,j)·(K/d)^j. So K messages in d rounds carry D blocks of a rank at least: few
/// messages carry blocks several times. The bound is the least of what d rounds, K messages and D blocks cost, over all
/// d and K.
///
/// Source:  bruck1997 (rounds, and bytes of exchanges of few rounds); Maclaurin's inequality; docs/proofs.md
#pragma once

#include <array>
#include <string_view>

#include "estimate/estimate.hpp"
#include "network/link_bound.hpp"

namespace swapmeet {

/// Blocks that a rank sends at least, on average, in an exchange of so many rounds and messages; infinity where those do
/// not reach all ranks.
double least_blocks(Rank ranks, std::int64_t rounds, double messages);

/// What a part of the bound is of.
enum class Limit : std::uint8_t { call, latency, messages, nic, links, memory };
inline constexpr std::array<std::string_view, 6> limit_names{"call", "latency", "messages", "nic", "links", "memory"};

/// Where an exchange runs. Node i has ranks i·per_node and on.
struct Site {
  Rank ranks = 1, per_node = 1;
  LinkBound links;         ///< of so many ranks on each of the first hosts
  std::int32_t ports = 0;  ///< messages that a rank sends, or receives, in a round at most; 0: any number
  /// Only exchanges in which no rank receives more than P - 1 blocks in a round, as where all ranks do alike. Others may
  /// make a few ranks receive large messages, which cost the core nothing at that end.
  bool balanced = false;
};

struct LowerBound {
  double us = 0;
  std::array<double, limit_names.size()> alone_us{};  ///< what each limit alone demands of every exchange
  /// what they take where the least is: so many rounds, messages of a rank, and blocks in them
  std::array<double, limit_names.size()> parts_us{};
  std::int64_t rounds = 0;
  double messages = 0, blocks = 0;
  Limit binding = Limit::call;  ///< the largest part
};

/// For blocks of so many bytes. Milliseconds of work.
LowerBound lower_bound(const Site& site, const NetworkCosts& costs, std::int64_t block_bytes);

}  // namespace swapmeet
