/// Being called in the host MPI's own progress: whatever MPI call the application is in, what it has started moves on,
/// without a thread. Found by symbol, never by version:
///
///   Open MPI  opal_progress_register(), by which its own non-blocking collectives are advanced
///   MPICH     MPIX_Async_start(), from 4.3 on (Source: "MPI Progress For All", arXiv 2405.13807)
///
/// Nothing is registered before there is something to advance.
#pragma once

namespace swapmeet {

/// Whether the host MPI calls others in its progress. The same on all ranks of a job with one MPI.
bool has_progress();

/// From now on the host MPI calls `advance` in its progress, perhaps in several threads at a time, and within calls of
/// the host MPI that advance() itself makes. It returns whether anything has moved. Any thread; local. False: the host
/// MPI refuses.
bool begin_progress(bool (*advance)());

/// Nothing is advanced any more, for MPI_Finalize has begun.
void end_progress();

}  // namespace swapmeet
