/// Brings the traces of all ranks together, in one time.
#pragma once

#include <cstdio>

#include "observe/trace_file.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// Relates the clocks of all ranks of `team` (nullptr: one rank only) to that of rank 0, which then fetches their traces one by one and writes them to
/// `file`. Collective.
void collect_trace(Trace& trace, const TracedCall& call, std::int64_t bytes_sent, const Team* team, Rank rank,
                   std::FILE* file);

}  // namespace swapmeet
