/// MPI_Comm_free and MPI_Comm_disconnect: a handle may mean another communicator afterwards. Mostly the delete callback of
/// our attribute tells us (session/context.cpp), but not where a program calls an all-to-all in a delete callback of its
/// own, on the communicator that is being freed: an attribute that is set then is never deleted.
#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "session/context.hpp"

using swapmeet::Handle;

#define SWAPMEET_FREES(name)                                  \
  SWAPMEET_NAMED(name, (Handle * comm)) {                     \
    const int error = swapmeet::pass_on(#name, comm);         \
    swapmeet::deaths.fetch_add(1, std::memory_order_release); \
    return error;                                             \
  }

SWAPMEET_FREES(MPI_Comm_free)
SWAPMEET_FREES(PMPI_Comm_free)
SWAPMEET_FREES(MPI_Comm_disconnect)
SWAPMEET_FREES(PMPI_Comm_disconnect)
