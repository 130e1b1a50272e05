/// Messages by which the ranks of a team tell one another something small. Each function is collective over the team, and waits;
/// in a coroutine (mpi/coroutine.hpp), which must not wait, it leaves the coroutine meanwhile. So the same code serves calls that
/// wait and calls that are started. Requires Team::has_messages().
///
/// All return an error of MPI; after one, nothing may be exchanged by the team any more, and memory that a message under way may
/// still use is kept for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/faults.hpp"
#include "mpi/outcome.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// PMPI_Test for a message of `team`. Where faults are survived, rank_died() once no member is to wait any more: what a
/// fault has ended must not be completed, for Open MPI ends the application ("Send error after request freed") where a part of it
/// is still under way.
int test_without_fault(MPI_Request& request, int& done, MPI_Status* status, const Team& team);
inline int test(MPI_Request& request, int& done, MPI_Status* status, const Team& team) {
  if (survives_faults) [[unlikely]]
    return test_without_fault(request, done, status, team);
  return PMPI_Test(&request, &done, status);
}

inline int test_again(MPI_Request& request, int& done, MPI_Status* status, const Team& team) {
  return again_unless([&request](int) { return request == MPI_REQUEST_NULL; },
                      [&] { return test(request, done, status, team); });
}

/// Waits for a message, and does not leave a coroutine.
int wait(MPI_Request& request, MPI_Status* status, const Team& team);

/// Element by element the largest value of all ranks, in place; there are as many on all ranks. `room`: for twice as many; it stays
/// where it is after an error. By dissemination: in round k each rank tells the one 2^k further what it knows, so that after
/// ceil(log2 P) rounds all know of all; a maximum does not mind what it hears twice. Faster than the host MPI's MPI_Allreduce and
/// MPI_Allgather, and without the milliseconds that its first MPI_Allreduce can take (MPICH).
int largest_of_all(Team& team, std::span<std::int64_t> values, std::span<std::int64_t> room);

/// What each rank says, `bytes` bytes, in the order of ranks in `all`: an allgather. Source: bruck1997 (concatenation).
/// Cost: ceil(log2 P) messages of at most P/2 * bytes.
int gather_by_messages(Team& team, const void* mine, std::size_t bytes, char* all);
/// The same of some members, in this order, each of which calls it.
int gather_by_messages(Team& team, std::span<const Rank> members, const void* mine, std::size_t bytes, char* all);

/// Gives every rank what `root` has: by a binomial tree.
int broadcast_by_messages(Team& team, void* data, std::size_t bytes, Rank root);

/// Gives each rank its own `bytes` bytes of what `root` has in the order of ranks, which is looked at there only.
int scatter_by_messages(Team& team, const char* all, std::size_t bytes, char* mine, Rank root);

}  // namespace swapmeet
