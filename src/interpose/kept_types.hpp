/// Derived types that the application may free as soon as it has a persistent all-to-all of the host MPI. Open MPI 5.0 uses
/// them at each start, but does not keep them: its ompi_coll_base_retain_datatypes() does so for requests under way, and a
/// persistent one begins inactive. (Those of non-blocking all-to-alls are kept.)
#pragma once

#include <vector>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Keeps those of `types` that are derived until the application frees `request`, a persistent one of the host MPI. MPICH
/// does so itself. Local. Returns as MPI does.
int keep_types(MPI_Request request, std::vector<MPI_Datatype> types);

}  // namespace swapmeet
