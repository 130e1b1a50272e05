/// Faults of ranks that die while the others go on, as the host MPI reports them (User-Level Failure Mitigation, MPI
/// Forum; Open MPI 5 started with --with-ft ulfm). If an exchange can no longer complete, all its ranks give it up.
/// Each waiting rank checks whether a rank of the exchange has died or the application has revoked the communicator
/// (team/team.hpp), and then records that in the shared memory of its node.
#pragma once

#include <span>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Whether the host MPI goes on after a rank has died. It is known once find_fault_tolerance() was called, which
/// requires that MPI is initialised. The same on all ranks of a job.
inline bool survives_faults = false;
void find_fault_tolerance();

/// Whether `error` says that a rank has died, or that the communicator is revoked.
bool is_fault(int error);

/// Whether is_fault() has ever been true in this process. From then on, ranks may hold different results of an
/// agreement.
bool had_fault();

/// The MPI error of an exchange that a fault has ended.
int fault_error();

/// Whether this rank knows that a communicator is revoked. Local.
bool is_revoked(MPI_Comm comm);

/// Whether this rank knows that one of these ranks of a communicator has died. Local.
bool has_died(MPI_Comm comm, std::span<const int> ranks);

/// Acknowledges the ranks of `comm` that have died, so that receives from MPI_ANY_SOURCE work again. Local.
void acknowledge_failures(MPI_Comm comm);

/// The error of an exchange on `user` after a fault.
int fault_on(MPI_Comm user);

}  // namespace swapmeet
