#include "mpi/world_ranks.hpp"

#include <algorithm>
#include <numeric>

namespace swapmeet {

int peers_of(MPI_Comm comm) {
  int inter = 0, ranks = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks);
  return ranks;
}

std::vector<int> ranks_of_group(MPI_Group group, MPI_Comm comm) {
  int number = 0;
  MPI_Group all = MPI_GROUP_NULL;
  PMPI_Group_size(group, &number);
  PMPI_Comm_group(comm, &all);
  std::vector<int> numbers(static_cast<std::size_t>(number)), ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  PMPI_Group_translate_ranks(group, number, numbers.data(), all, ranks.data());
  PMPI_Group_free(&all);
  return ranks;
}

std::vector<int> world_ranks_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  std::vector<int> world_ranks = ranks_of_group(group, MPI_COMM_WORLD);
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
    const std::vector<int> own = ranks_of_group(group, MPI_COMM_WORLD);
    all.insert(all.end(), own.begin(), own.end());
    PMPI_Group_free(&group);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace swapmeet
