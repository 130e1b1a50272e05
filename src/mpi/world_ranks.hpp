/// Who ranks are in MPI_COMM_WORLD.
#pragma once

#include <vector>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Of each rank of `group`, or of `comm`, in its order; MPI_UNDEFINED for those of other jobs. Local. (Two names, for
/// both handles are integers in some MPIs.)
std::vector<int> world_ranks_of_group(MPI_Group group);
std::vector<int> world_ranks_of(MPI_Comm comm);

/// Of the ranks of both groups of an intercommunicator, in the order of MPI_COMM_WORLD: the same in both. Local.
std::vector<int> world_ranks_of_both_groups(MPI_Comm comm);

}  // namespace swapmeet
