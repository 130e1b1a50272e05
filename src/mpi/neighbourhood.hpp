/// The virtual topology of a communicator, as MPI tells of it.
#pragma once

#include <optional>

#include "mpi/mpi.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// What `rank`, the calling one of `ranks`, knows of it. Nothing: there is none. Local.
std::optional<Neighbourhood> neighbourhood_of(MPI_Comm comm, Rank ranks, Rank rank);

}  // namespace swapmeet
