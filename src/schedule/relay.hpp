/// A schedule seen by what becomes of blocks, not by where they are kept: copies inside the rank, which blocks of
/// unequal size could not make in place, are followed instead. It says which blocks each message holds, and for each
/// block that arrives whether it stays or which later message takes it on.
///
/// Blocks are numbered: d is the rank's own block for rank d, P + i the i-th block that it takes in to pass on.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

struct Relay {
  /// Blocks that travel together; `last`: see Message.
  struct Bundle {
    Rank peer = 0;
    bool last = false;
    std::uint32_t first = 0, count = 0;  ///< in `departing` (of a send) or `arriving` (of a receive)
  };

  /// Messages that may be in flight together. A round begins when the previous one is over on this rank.
  struct Round {
    std::uint32_t first_send = 0, send_count = 0;
    std::uint32_t first_receive = 0, receive_count = 0;
    std::uint32_t step = 0, batch = 0;  ///< of the schedule, and the batch of messages within the step
  };

  Rank ranks = 1, rank = 0;
  std::vector<Round> rounds;
  std::vector<Bundle> sends, receives;
  std::vector<std::int32_t> departing;  ///< the number of each block sent
  /// of each block received: its number if it is passed on, -1 - source if it stays
  std::vector<std::int32_t> arriving;
  std::int32_t passed_on = 0;  ///< blocks that are taken in to be passed on

  std::span<const Bundle> sends_of(const Round& round) const {
    return std::span(sends).subspan(round.first_send, round.send_count);
  }
  std::span<const Bundle> receives_of(const Round& round) const {
    return std::span(receives).subspan(round.first_receive, round.receive_count);
  }
  std::span<const std::int32_t> blocks_of(const Bundle& bundle, const std::vector<std::int32_t>& list) const {
    return std::span(list).subspan(bundle.first, bundle.count);
  }

  /// The most blocks that are in working memory at a time, if each is of the same size: those of messages in flight
  /// (arriving ones land there, departing ones are gathered there), and those of earlier messages some of whose blocks
  /// have not left yet. O(blocks).
  std::int64_t peak_blocks() const;
};

/// Of a schedule that is verified, and has no segments. The completion rule of its steps is not kept: a round is a
/// batch. O(blocks copied and sent).
Relay relay_of(const Schedule& schedule);

}  // namespace swapmeet
