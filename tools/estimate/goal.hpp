/// The GOAL text of a schedule, for LogGOPSim and similar simulators (docs/simulation.md, "GOAL").
///
/// The grammar is that of LogGOPSim's txt2bin. There is one statement per line. A statement follows those on which it
/// depends. Labels are local to a rank.
///   l1: send 128b to 3 tag 0        the n-th message from one rank to another has tag n, at both ends
///   l2: recv 128b from 5 tag 0
///   l3: calc 40                     nanoseconds: copies, or 0 to join several dependencies
///   l3 requires l1                  l3 starts when l1 has ended
///   l2 irequires l1                 l2 starts when l1 has started
/// The grant of a message (post=granted) is a message of 1 B in the opposite direction; its tag is that of the message
/// plus 2^28.
///
/// Source:  hoefler2009 (GOAL), hoefler2010 (LogGOPSim)
#pragma once

#include <optional>
#include <string>

#include "model/machine.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Returns "rank R { ... }", the operations of the executor for blocks of `block_bytes` bytes, which must be positive.
/// `copying`: the cost of copies; nullopt: copies are left out. With complete=any or test the executor starts a message
/// when any other one has completed. GOAL cannot express this; there message i waits for message i - window.
std::string to_goal(const Schedule& schedule, std::int64_t block_bytes, const std::optional<Copying>& copying);

}  // namespace swapmeet
