/// Functions for the object that has loaded this library: a front (src/front/front.cpp) or the component of Open MPI
/// (src/component/coll_swapmeet.c). They are no part of the interface for programs.
#include "api/export.hpp"
#include "mpi/mpi.hpp"
#include "session/context.hpp"

/// Makes the library find the host MPI's functions by `next`.
SWAPMEET_EXPORT void swapmeet_behind_front(swapmeet::NextDefinition* next) { swapmeet::look_behind(next); }

/// Reports that a communicator has ended of which MPI_Comm_free did not report it. Its handle may stand for another
/// communicator afterwards, so the caches of recent communicators are invalidated.
SWAPMEET_EXPORT void swapmeet_communicator_ended() { swapmeet::forget_handles(); }
