/// The all-to-all functions of the host MPI, which the application would have called without this library.
#pragma once

#include "mpi/mpi.hpp"

namespace swapmeet {

/// FUNCTION(member, Name) for each of the functions, with `size` behind the names: nothing or _c.
// clang-format off
#define SWAPMEET_NATIVE_OF(FUNCTION, size)                                                                             \
  FUNCTION(alltoall##size, Alltoall##size) FUNCTION(neighbor_alltoall##size, Neighbor_alltoall##size)                  \
  FUNCTION(alltoallv##size, Alltoallv##size) FUNCTION(neighbor_alltoallv##size, Neighbor_alltoallv##size)              \
  FUNCTION(alltoallw##size, Alltoallw##size) FUNCTION(neighbor_alltoallw##size, Neighbor_alltoallw##size)              \
  FUNCTION(ialltoall##size, Ialltoall##size) FUNCTION(ialltoallv##size, Ialltoallv##size)                              \
  FUNCTION(ialltoallw##size, Ialltoallw##size)

// clang-format on
#if MPI_VERSION >= 4
#define SWAPMEET_NATIVE(FUNCTION) SWAPMEET_NATIVE_OF(FUNCTION, ) SWAPMEET_NATIVE_OF(FUNCTION, _c)
#else
#define SWAPMEET_NATIVE(FUNCTION) SWAPMEET_NATIVE_OF(FUNCTION, )
#endif

struct Native {
#define SWAPMEET_DECLARE(member, name) decltype(&PMPI_##name) member;
  SWAPMEET_NATIVE(SWAPMEET_DECLARE)
#undef SWAPMEET_DECLARE
};

/// The functions, found once in the MPI of the process. A plain call of a PMPI_ name would reach this library's own
/// function.
const Native& native();

}  // namespace swapmeet
