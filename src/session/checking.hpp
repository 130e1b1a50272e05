/// The check of SWAPMEET_CHECK=1: before an all-to-all, ranks compare their arguments with each other.
#pragma once

#include <string>

#include "session/call_arguments.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// Compares the arguments of all ranks. Returns the first mistake that any rank has found, the same text on all ranks;
/// "" if there is none. Mistakes are: different collectives, MPI_IN_PLACE on some ranks only, blocks whose sizes or
/// predefined types do not match, and blocks that overlap.
/// Collective over `team`. Costs an MPI_Allgather, an MPI_Alltoallv and a small agreement; with neighbours also an
/// MPI_Alltoall and another agreement.
std::string mistake_of_ranks(const Arguments& mine, Team& team);

}  // namespace swapmeet
