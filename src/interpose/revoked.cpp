/// MPIX_Comm_revoke: whoever is in an exchange of ours on the communicator is to leave it, too. (Open MPI 5; no other MPI
/// that we know goes on after a fault.)
#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "mpi/guard.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5

using swapmeet::Handle;

namespace {

void revoke_ours(MPI_Comm comm) {
  swapmeet::guarded([&] {
    if (swapmeet::Communicator* const communicator = swapmeet::kept_for(comm)) communicator->revoke();
    return MPI_SUCCESS;
  });
}

}  // namespace

#define SWAPMEET_REVOKES(name)                                                    \
  SWAPMEET_NAMED(name, (Handle comm)) {                                           \
    if (swapmeet::mpi_suits() && comm) revoke_ours(swapmeet::as<MPI_Comm>(comm)); \
    return swapmeet::pass_on(#name, comm);                                        \
  }

SWAPMEET_REVOKES(MPIX_Comm_revoke)
SWAPMEET_REVOKES(PMPIX_Comm_revoke)

#endif
