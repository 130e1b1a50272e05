#include "execute/native.hpp"

#include <cstdlib>

#include "execute/report.hpp"

namespace swapmeet {

namespace {

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(mpi_symbol(name));
  if (function) return;
  // Cannot be: the headers that we were compiled with have it. Without it the application's call has nowhere to go.
  say(std::string("error: ") + name + " was not found in the MPI of this process");
  std::abort();
}

Native find_all() {
  require_mpi();
  Native all{};
  find(all.alltoall, "PMPI_Alltoall");
  find(all.alltoallv, "PMPI_Alltoallv");
  find(all.alltoallw, "PMPI_Alltoallw");
  find(all.ialltoall, "PMPI_Ialltoall");
  find(all.ialltoallv, "PMPI_Ialltoallv");
  find(all.ialltoallw, "PMPI_Ialltoallw");
#if MPI_VERSION >= 4
  find(all.alltoall_c, "PMPI_Alltoall_c");
  find(all.alltoallv_c, "PMPI_Alltoallv_c");
  find(all.alltoallw_c, "PMPI_Alltoallw_c");
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
