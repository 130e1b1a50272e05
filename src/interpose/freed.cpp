/// Communicators that end.
///
/// MPI_Comm_free and MPI_Comm_disconnect: a handle may mean another communicator afterwards. Mostly the delete callback of
/// our attribute tells us (session/context.cpp), but not where a program calls an all-to-all in a delete callback of its
/// own, on the communicator that is being freed: an attribute that is set then is never deleted. And what was started is to
/// be over before, for it needs what the callback deletes; MPI lets these calls wait for the other ranks.
///
/// MPIX_Comm_revoke: whoever is in an exchange of ours on the communicator is to leave it, too. (Open MPI 5; no other MPI
/// that we know goes on after a fault.)
#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "mpi/guard.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"
#include "session/duplicates.hpp"

using swapmeet::Handle;

namespace {

/// Has what we keep for `comm`, if anything, do something before the host MPI does its part.
void have(MPI_Comm comm, void (swapmeet::Communicator::*act)()) {
  swapmeet::guarded([&] {
    if (swapmeet::Communicator* const communicator = swapmeet::kept_for(comm)) (communicator->*act)();
    return MPI_SUCCESS;
  });
}

}  // namespace

// `comm` points to a handle of the MPI's size, which is an int's or a pointer's.
#define SWAPMEET_FREES(name)                                                    \
  SWAPMEET_NAMED(name, (void* comm)) {                                          \
    if (!swapmeet::mpi_suits() || !comm) return swapmeet::pass_on(#name, comm); \
    const MPI_Comm ending = *static_cast<const MPI_Comm*>(comm);                \
    have(ending, &swapmeet::Communicator::finish_started);                      \
    const swapmeet::BeingFreed being_freed(ending);                             \
    return swapmeet::pass_on(#name, comm);                                      \
  }

SWAPMEET_FREES(MPI_Comm_free)
SWAPMEET_FREES(PMPI_Comm_free)
SWAPMEET_FREES(MPI_Comm_disconnect)
SWAPMEET_FREES(PMPI_Comm_disconnect)

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5

#define SWAPMEET_REVOKES(name)                                                                              \
  SWAPMEET_NAMED(name, (Handle comm)) {                                                                     \
    if (swapmeet::mpi_suits() && comm) have(swapmeet::as<MPI_Comm>(comm), &swapmeet::Communicator::revoke); \
    return swapmeet::pass_on(#name, comm);                                                                  \
  }

SWAPMEET_REVOKES(MPIX_Comm_revoke)
SWAPMEET_REVOKES(PMPIX_Comm_revoke)

#endif
