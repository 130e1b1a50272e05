/// The GOAL text of a schedule, which LogGOPSim and its relatives simulate (docs/simulation.md, "GOAL").
///
/// Grammar: LogGOPSim's txt2bin. One statement a line; what a label depends on comes before it; labels are of their
/// rank.
///   l1: send 128b to 3 tag 0        the n-th message from one rank to another has tag n, at both ends
///   l2: recv 128b from 5 tag 0
///   l3: calc 40                     nanoseconds: copies, or 0 where many wait for many
///   l3 requires l1                  l3 starts when l1 is over
///   l2 irequires l1                 l2 starts when l1 has started
/// The grant of a message (post=granted) is one of 1 B the other way, whose tag is that of the message and 2^28.
///
/// Source:  hoefler2009 (GOAL), hoefler2010 (LogGOPSim)
#pragma once

#include <optional>
#include <string>

#include "model/machine.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// "rank R { ... }": what the executor makes the rank do with blocks of `block_bytes`, which must be positive.
/// `copying`: what copies cost; nothing: they are left out. With complete=any or test the executor starts a message
/// when any other is over; GOAL knows no "any": there message i waits for message i - window.
std::string to_goal(const Schedule& schedule, std::int64_t block_bytes, const std::optional<Copying>& copying);

}  // namespace swapmeet
