/// What is asked of the library by what has loaded it, a front (src/front/front.cpp) or Open MPI's component
/// (src/component/coll_swapmeet.c); no part of the interface for programs.
#include "api/export.hpp"
#include "mpi/mpi.hpp"
#include "session/context.hpp"

SWAPMEET_EXPORT void swapmeet_behind_front(swapmeet::NextDefinition* next) { swapmeet::look_behind(next); }

/// A communicator is at its end, of which we did not hear by MPI_Comm_free: its handle may come to mean another.
SWAPMEET_EXPORT void swapmeet_communicator_ended() { swapmeet::deaths.fetch_add(1, std::memory_order_release); }
