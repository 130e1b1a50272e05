/// The ranks of a communicator, and their translation to ranks in MPI_COMM_WORLD.
#pragma once

#include <vector>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// The number of ranks with which a rank of `comm` exchanges blocks: on an intercommunicator, those of the remote group.
/// 0 if `comm` is invalid. Local.
int peers_of(MPI_Comm comm);

/// The rank in `comm` of each rank of `group`, in its order. It is MPI_UNDEFINED for ranks that `comm` lacks. Local.
std::vector<int> ranks_of_group(MPI_Group group, MPI_Comm comm);

/// The rank in MPI_COMM_WORLD of each rank of `comm`. It is MPI_UNDEFINED for ranks of other jobs. Local.
std::vector<int> world_ranks_of(MPI_Comm comm);

/// The ranks in MPI_COMM_WORLD of both groups of an intercommunicator, in ascending order, which is the same in both
/// groups. Local.
std::vector<int> world_ranks_of_both_groups(MPI_Comm comm);

}  // namespace swapmeet
