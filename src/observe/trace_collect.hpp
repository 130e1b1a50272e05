/// The collection of the traces of all ranks on rank 0, with times by one clock.
#pragma once

#include <cstdio>

#include "observe/trace_file.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// Relates the clocks of all ranks of `team` (nullptr: one rank only) to that of rank 0. Rank 0 then fetches the traces
/// one by one and writes them to `file`. Collective.
void collect_trace(Trace& trace, const TracedCall& call, std::int64_t bytes_sent, const Team* team, Rank rank,
                   std::FILE* file);

}  // namespace swapmeet
