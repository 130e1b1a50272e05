/// What travels: which blocks each message of one rank holds, round by round, and for each block that arrives whether it
/// ends here or which later message takes it on. Nothing is said of where blocks are kept; so it is all that an exchange
/// of blocks of unequal size needs, and what a schedule for blocks of equal size is made of.
///
/// Blocks are numbered: d is the rank's own block for rank d (among neighbours: for neighbour d), own_blocks() + i the i-th
/// block that it takes in to pass on. What a rank has for itself travels in no message.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

struct Flow {
  Rank ranks = 1, rank = 0;
  std::optional<Degrees> neighbours{};  ///< as of Schedule
  std::vector<Round> rounds;
  std::vector<Message> sends, receives;  ///< their blocks are in `departing` and `arriving`
  std::vector<std::int32_t> departing;   ///< the number of each block sent
  /// of each block received: its number if it is passed on, -1 - source (neighbour) if it ends here
  std::vector<std::int32_t> arriving;
  std::int32_t passed_on = 0;  ///< blocks that are taken in to be passed on

  /// Blocks that this rank sends in all, and those that end here.
  std::int32_t own_blocks() const { return neighbours ? neighbours->out : ranks; }
  std::int32_t ending_blocks() const { return neighbours ? neighbours->in : ranks; }

  std::span<const Message> sends_of(const Round& round) const {
    return std::span(sends).subspan(round.first_send, round.send_count);
  }
  std::span<const Message> receives_of(const Round& round) const {
    return std::span(receives).subspan(round.first_receive, round.receive_count);
  }
  std::span<const std::int32_t> departing_in(const Message& message) const {
    return std::span(departing).subspan(message.first, message.count);
  }
  std::span<const std::int32_t> arriving_in(const Message& message) const {
    return std::span(arriving).subspan(message.first, message.count);
  }
};

/// What the schedule of a rank makes travel, by following blocks through its buffers: place() the other way. Requires
/// bounds, and no segments. O(blocks copied and sent).
Flow flow_of(const Schedule& schedule);

/// The most blocks that are in working memory at a time, if each is of the same size, in any execution: those of
/// messages in flight (arriving ones land there, departing ones are gathered there), and those of earlier messages some
/// of whose blocks have not left yet. See working_memory.hpp. O(blocks).
std::int64_t peak_blocks(const Flow& flow);

}  // namespace swapmeet
