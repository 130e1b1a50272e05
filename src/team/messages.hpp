/// Small collectives of the ranks of a team, by messages of the library, and tests of single messages. Each collective
/// is called by all ranks of the team, or by the given members, and waits. In work that is executed in steps
/// (steps.hpp) it ends the step instead of waiting. So the same code serves blocking and non-blocking calls. Requires
/// Team::has_messages().
///
/// All functions return an MPI error code. After an error of a collective the team must not exchange anything any more,
/// and memory that a message in flight may still use is never freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/faults.hpp"
#include "mpi/outcome.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// PMPI_Test for a message of `team`, if the host MPI survives faults. Returns fault_error() once no member may wait for
/// another any more (Team::fault()). A request that a fault has ended must not be completed: Open MPI ends the
/// application ("Send error after request freed") if a part of the message is still in flight.
int test_without_fault(MPI_Request& request, int& done, MPI_Status* status, const Team& team);
/// PMPI_Test for a message of `team`.
inline int test(MPI_Request& request, int& done, MPI_Status* status, const Team& team) {
  if (survives_faults) [[unlikely]]
    return test_without_fault(request, done, status, team);
  return PMPI_Test(&request, &done, status);
}

/// Calls test(), and repeats the call if it fails before the request is complete.
inline int test_again(MPI_Request& request, int& done, MPI_Status* status, const Team& team) {
  return again_unless([&request](int) { return request == MPI_REQUEST_NULL; },
                      [&] { return test(request, done, status, team); });
}

/// Waits for a message. It ends no step, so it must not be called in work that is executed in steps.
int wait(MPI_Request& request, MPI_Status* status, const Team& team);

/// Lets time pass while this rank waits for others of `team`: ends the step of work that is executed in steps, else yields
/// the core.
void pass_time(const Team& team);

/// Replaces each element of `values` by the largest of all ranks. All ranks must have the same number of elements.
/// `room` has twice as many elements; it must stay allocated after an error. The algorithm is dissemination: in round k
/// each rank sends its values to the rank 2^k further, so that after ceil(log2 P) rounds each has the maximum of all. A
/// value that arrives twice does not change a maximum. This is faster than the host MPI's MPI_Allreduce and
/// MPI_Allgather, and has no slow first call (MPICH's first MPI_Allreduce can take milliseconds).
int largest_of_all(Team& team, std::span<std::int64_t> values, std::span<std::int64_t> room);

/// Allgather: `all` gets `bytes` bytes of `mine` from each rank, in the order of ranks. Source: bruck1997
/// (concatenation). Cost: ceil(log2 P) messages of at most P/2 * bytes, for each 48 KiB of `all`.
int gather_by_messages(Team& team, const void* mine, std::size_t bytes, char* all);
/// Allgather of some members, each of which calls it with the same `members`. `all` is in the order of `members`.
int gather_by_messages(Team& team, std::span<const Rank> members, const void* mine, std::size_t bytes, char* all);

/// Broadcast of `bytes` bytes of `root`, by a binomial tree.
int broadcast_by_messages(Team& team, void* data, std::size_t bytes, Rank root);

/// Scatter: `mine` gets this rank's `bytes` bytes of `all`, which `root` has in the order of ranks. `all` is read on
/// `root` only.
int scatter_by_messages(Team& team, const char* all, std::size_t bytes, char* mine, Rank root);

}  // namespace swapmeet
