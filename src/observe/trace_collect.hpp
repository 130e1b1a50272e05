/// Brings the traces of all ranks together, in one time.
#pragma once

#include <cstdio>

#include "observe/trace_file.hpp"

namespace swapmeet {

/// Relates the clocks of all ranks of `comm`, whose traffic must be ours alone, to that of rank 0, which then fetches
/// their traces one by one and writes them to `file`. Collective. `comm` is not used where there is one rank only.
void collect_trace(Trace& trace, const TracedCall& call, std::int64_t bytes_sent, MPI_Comm comm, Rank rank,
                   std::FILE* file);

}  // namespace swapmeet
