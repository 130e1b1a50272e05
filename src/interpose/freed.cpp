/// The entry points by which a communicator ends.
///
/// MPI_Comm_free and MPI_Comm_disconnect are intercepted because the handle may stand for another communicator
/// afterwards. Usually the delete callback of the library's attribute reports that (session/context.cpp). It does not
/// if a program calls an all-to-all in a delete callback of its own, on the communicator that is being freed: an
/// attribute that is set then is never deleted. Besides, started exchanges must complete first, because they need the
/// state that the callback deletes. MPI allows these calls to wait for the other ranks.
///
/// MPIX_Comm_revoke is intercepted because a rank that is in an exchange of this library on the communicator must leave
/// it, too. (This concerns Open MPI 5; no other MPI that we know continues after a fault.)
#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "mpi/guard.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"
#include "session/duplicates.hpp"

using swapmeet::Handle;

namespace {

/// Calls `act` on the Communicator of `comm`, if there is one. It is used before the host MPI does its part.
void have(MPI_Comm comm, void (swapmeet::Communicator::*act)()) {
  swapmeet::guarded([&] {
    if (swapmeet::Communicator* const communicator = swapmeet::kept_for(comm)) (communicator->*act)();
    return MPI_SUCCESS;
  });
}

}  // namespace

// `comm` points to a handle of the application's MPI, which has the size of an int or of a pointer.
#define SWAPMEET_FREES(name, Name)                                                   \
  SWAPMEET_NAMED(name, (void* comm)) {                                               \
    static void* const underneath = swapmeet::needed_mpi_symbol(#name);              \
    if (!swapmeet::mpi_suits() || !comm) return swapmeet::pass_on(underneath, comm); \
    const MPI_Comm ending = *static_cast<const MPI_Comm*>(comm);                     \
    have(ending, &swapmeet::Communicator::finish_started);                           \
    const swapmeet::BeingFreed being_freed(ending);                                  \
    return swapmeet::pass_on(underneath, comm);                                      \
  }

SWAPMEET_ENTRIES(SWAPMEET_FREES, Comm_free)
SWAPMEET_ENTRIES(SWAPMEET_FREES, Comm_disconnect)

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5

#define SWAPMEET_REVOKES(name)                                                                              \
  SWAPMEET_NAMED(name, (Handle comm)) {                                                                     \
    if (swapmeet::mpi_suits() && comm) have(swapmeet::as<MPI_Comm>(comm), &swapmeet::Communicator::revoke); \
    return swapmeet::pass_on(#name, comm);                                                                  \
  }

SWAPMEET_REVOKES(MPIX_Comm_revoke)
SWAPMEET_REVOKES(PMPIX_Comm_revoke)

#endif
