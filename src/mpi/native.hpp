/// The all-to-all functions of the host MPI, which the application would have called without this library.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

struct Native {
  decltype(&PMPI_Alltoall) alltoall;
  decltype(&PMPI_Alltoallv) alltoallv;
  decltype(&PMPI_Alltoallw) alltoallw;
  decltype(&PMPI_Neighbor_alltoall) neighbor_alltoall;
  decltype(&PMPI_Neighbor_alltoallv) neighbor_alltoallv;
  decltype(&PMPI_Neighbor_alltoallw) neighbor_alltoallw;
  decltype(&PMPI_Ialltoall) ialltoall;
  decltype(&PMPI_Ialltoallv) ialltoallv;
  decltype(&PMPI_Ialltoallw) ialltoallw;
#if MPI_VERSION >= 4
  decltype(&PMPI_Alltoall_c) alltoall_c;
  decltype(&PMPI_Alltoallv_c) alltoallv_c;
  decltype(&PMPI_Alltoallw_c) alltoallw_c;
  decltype(&PMPI_Neighbor_alltoall_c) neighbor_alltoall_c;
  decltype(&PMPI_Neighbor_alltoallv_c) neighbor_alltoallv_c;
  decltype(&PMPI_Neighbor_alltoallw_c) neighbor_alltoallw_c;
  decltype(&PMPI_Ialltoall_c) ialltoall_c;
  decltype(&PMPI_Ialltoallv_c) ialltoallv_c;
  decltype(&PMPI_Ialltoallw_c) ialltoallw_c;
#endif
};

/// The functions, found once in the MPI of the process. A plain call of a PMPI_ name would reach this library's own
/// function.
const Native& native();

}  // namespace swapmeet
