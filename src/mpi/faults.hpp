/// Ranks that die while the others go on: what the host MPI knows of them (User-Level Failure Mitigation, MPI Forum; Open
/// MPI 5 started with --with-ft ulfm). An exchange that cannot end any more is given up by all ranks that are in it: who
/// learns of it first revokes the communicator of our messages, and says so in the memory of its node.
#pragma once

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

/// Revokes a communicator of ours: whatever a rank waits for on it ends with an error. Any thread; local.
void revoke(MPI_Comm ours);

/// Whether this rank knows that a communicator is revoked. Local.
bool is_revoked(MPI_Comm comm);

/// Whether this rank knows that a rank of a communicator has died. Local.
bool lacks_rank(MPI_Comm comm);

/// The error for who exchanges on `user` after a fault.
int fault_on(MPI_Comm user);

}  // namespace swapmeet
