/// The first blocking calls on a communicator that are left to the host MPI. Nothing is made for the communicator before
/// they are over, so that one of few calls costs no more than an attribute: a counter.
#pragma once

#include "mpi/mpi.hpp"
#include "options/options.hpp"
#include "session/recent.hpp"

namespace swapmeet {

/// Makes the keyval of the counter. To be called once, after MPI_Init; local.
void begin_to_leave_calls();

/// How many first calls on `comm` are left to the host MPI. Uses only what is the same on all ranks before they have
/// exchanged their parameters. Local.
int first_calls_of(MPI_Comm comm, const Options& options);

/// The counter of `comm`, if this blocking call is left to the host MPI although nothing else has been made for `comm`;
/// the call is then counted. Returns nullptr if it is not left; if calls are counted, timed or watched on this rank; and
/// if no counter can be made, for lack of memory or because `comm` is being freed. A Communicator then counts the first
/// calls, and leaves as many. Local.
LeftCalls* leaves_unobserved(MPI_Comm comm, const Options& options);

/// Number of calls on `comm` that were left so. From now on leaves_unobserved() is false for it, in every thread: a
/// Communicator counts its calls. Local.
int end_leaving_unobserved(MPI_Comm comm);

}  // namespace swapmeet
