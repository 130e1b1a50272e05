/// A flow lists the blocks in each message of one rank, round by round. For each arriving block it says whether the
/// block ends at this rank or is passed on, and by which later message. It does not say where blocks are kept. An
/// exchange of blocks of unequal size needs nothing else; a schedule for blocks of equal size is made from a flow.
///
/// Blocks are numbered. Block d, for d < own_blocks(), is the rank's own block for rank d (in a virtual topology: for
/// neighbour d). Block own_blocks() + i is the i-th block that the rank receives in order to pass it on. The block that
/// a rank has for itself is in no message.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// In a message of a flow, `first` and `count` index `departing` and `arriving`.
struct Flow : Messages {
  Rank ranks = 1, rank = 0;
  std::optional<Degrees> neighbours{};  ///< as in Schedule
  std::vector<Round> rounds;
  std::vector<std::int32_t> departing;  ///< block number of each block sent
  /// For each block received: its block number if it is passed on, or -1 - source (in a topology: -1 - neighbour) if it
  /// ends here.
  std::vector<std::int32_t> arriving;
  std::int32_t passed_on = 0;  ///< number of received blocks that are passed on

  /// Number of blocks that start at this rank, and number of blocks that end at it. Both include its block for itself.
  std::int32_t own_blocks() const { return neighbours ? neighbours->out : ranks; }
  std::int32_t ending_blocks() const { return neighbours ? neighbours->in : ranks; }

  std::span<const std::int32_t> departing_in(const Message& message) const {
    return std::span(departing).subspan(message.first, message.count);
  }
  std::span<const std::int32_t> arriving_in(const Message& message) const {
    return std::span(arriving).subspan(message.first, message.count);
  }
};

/// Returns the largest number of blocks in working memory at any time, over all executions of the flow. Working memory
/// holds the blocks of messages in flight (arriving blocks land there, departing blocks are gathered there) and whole
/// earlier messages of which at least one block has not left yet. Valid for blocks of equal size; see
/// working_memory.hpp. O(blocks).
std::int64_t peak_blocks(const Flow& flow);

}  // namespace swapmeet
