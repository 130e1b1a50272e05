/// Ranks that die while the others go on: what the host MPI knows of them (User-Level Failure Mitigation, MPI Forum; Open
/// MPI 5 started with --with-ft ulfm). An exchange that cannot end any more is given up by all ranks that are in it: each looks, while
/// it waits, whether one of them has died or the application has revoked the communicator (team/team.hpp), and says so in the memory
/// of its node.
#pragma once

#include <span>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Whether the host MPI goes on where a rank has died: known from find_fault_tolerance() on, which is to be called after
/// MPI_Init. The same on all ranks of a job.
inline bool survives_faults = false;
void find_fault_tolerance();

/// Whether `error` says that a rank has died, or that the communicator is revoked.
bool is_fault(int error);

/// Whether is_fault() was true before in this process: from then on, ranks may disagree on what they have agreed on.
bool had_fault();

/// The error for a rank that has died.
int rank_died();

/// Whether this rank knows that a communicator is revoked. Local.
bool is_revoked(MPI_Comm comm);

/// Whether this rank knows that one of these ranks of a communicator has died. Local.
bool has_died(MPI_Comm comm, std::span<const int> ranks);

/// Has receives from any source go on on a communicator some of whose ranks have died. Local.
void go_on_without_dead(MPI_Comm comm);

/// The error for who exchanges on `user` after a fault.
int fault_on(MPI_Comm user);

}  // namespace swapmeet
