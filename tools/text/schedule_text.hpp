/// The text form of a schedule: for people, for golden files, and for passing a schedule to another program.
///
///   schedule ranks=4 rank=1 scratch=0 segment=0
///   step window=1 complete=all post=receives-first
///     copy send[1] receive[1]
///     send 2 last send[2]
///     receive 0 last receive[0]
///
/// A run of blocks is written buffer[first], buffer[first..last] or buffer[first..last/stride]; a message may have
/// several. "last" says that all blocks of the message end at the receiver.
#pragma once

#include <string_view>

#include "schedule/names.hpp"
#include "schedule/result.hpp"

namespace swapmeet {

std::string to_text(const Schedule& schedule);
std::string_view to_text(Completion completion);
std::string_view to_text(Posting posting);

/// Reads the output of to_text(). Indentation, blank lines and `#` comments are ignored. The schedule is not verified:
/// its block numbers and peers may be out of bounds.
Result<Schedule> parse_schedule(std::string_view text);

/// Whether both have the same steps, operations and runs, however they are stored. Purposes are ignored.
bool operator==(const Schedule& one, const Schedule& other);

}  // namespace swapmeet
