#include "mpi/native.hpp"

namespace swapmeet {

namespace {

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(needed_mpi_symbol(name));
}

Native find_all() {
  Native all{};
  find(all.alltoall, "PMPI_Alltoall");
  find(all.alltoallv, "PMPI_Alltoallv");
  find(all.alltoallw, "PMPI_Alltoallw");
  find(all.neighbor_alltoall, "PMPI_Neighbor_alltoall");
  find(all.neighbor_alltoallv, "PMPI_Neighbor_alltoallv");
  find(all.neighbor_alltoallw, "PMPI_Neighbor_alltoallw");
  find(all.ialltoall, "PMPI_Ialltoall");
  find(all.ialltoallv, "PMPI_Ialltoallv");
  find(all.ialltoallw, "PMPI_Ialltoallw");
#if MPI_VERSION >= 4
  find(all.alltoall_c, "PMPI_Alltoall_c");
  find(all.alltoallv_c, "PMPI_Alltoallv_c");
  find(all.alltoallw_c, "PMPI_Alltoallw_c");
  find(all.neighbor_alltoall_c, "PMPI_Neighbor_alltoall_c");
  find(all.neighbor_alltoallv_c, "PMPI_Neighbor_alltoallv_c");
  find(all.neighbor_alltoallw_c, "PMPI_Neighbor_alltoallw_c");
  find(all.ialltoall_c, "PMPI_Ialltoall_c");
  find(all.ialltoallv_c, "PMPI_Ialltoallv_c");
  find(all.ialltoallw_c, "PMPI_Ialltoallw_c");
#endif
  return all;
}

}  // namespace

const Native& native() {
  static const Native all = find_all();
  return all;
}

}  // namespace swapmeet
