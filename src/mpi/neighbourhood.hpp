/// The virtual topology of a communicator, read from MPI.
#pragma once

#include <optional>

#include "mpi/mpi.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// The neighbours of the calling rank, which is `rank` of `ranks` ranks. Returns nothing if `comm` has no virtual
/// topology. Local.
std::optional<Neighbourhood> neighbourhood_of(MPI_Comm comm, Rank ranks, Rank rank);

}  // namespace swapmeet
