/// References to the derived types of the host MPI's persistent all-to-alls. The application may free such a type as
/// soon as the request is made. Open MPI 5.0 uses the types at each start, but holds no reference to them: its
/// ompi_coll_base_retain_datatypes() retains them for active requests only, and a persistent request begins inactive.
/// (Open MPI does retain the types of non-blocking all-to-alls.)
#pragma once

#include <vector>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Keeps the derived types among `types` alive until the application frees `request`, a persistent request of the host
/// MPI. MPICH does so itself and needs no such call. Local. Returns an MPI error code.
int keep_types(MPI_Request request, std::vector<MPI_Datatype> types);

}  // namespace swapmeet
