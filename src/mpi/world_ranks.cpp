#include "mpi/world_ranks.hpp"

#include <algorithm>
#include <numeric>

namespace swapmeet {

std::vector<int> world_ranks_of_group(MPI_Group group) {
  int ranks = 0;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Group_size(group, &ranks);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> all(static_cast<std::size_t>(ranks)), world_ranks(all.size());
  std::iota(all.begin(), all.end(), 0);
  PMPI_Group_translate_ranks(group, ranks, all.data(), world, world_ranks.data());
  PMPI_Group_free(&world);
  return world_ranks;
}

std::vector<int> world_ranks_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  std::vector<int> world_ranks = world_ranks_of_group(group);
  PMPI_Group_free(&group);
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  // If a grid has fewer ranks than its parent communicator, MPICH 5.0.2 returns the group of all the parent's ranks.
  world_ranks.resize(static_cast<std::size_t>(ranks));
  return world_ranks;
}

std::vector<int> world_ranks_of_both_groups(MPI_Comm comm) {
  std::vector<int> all;
  for (const auto group_of : {PMPI_Comm_group, PMPI_Comm_remote_group}) {
    MPI_Group group = MPI_GROUP_NULL;
    group_of(comm, &group);
    const std::vector<int> own = world_ranks_of_group(group);
    all.insert(all.end(), own.begin(), own.end());
    PMPI_Group_free(&group);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace swapmeet
