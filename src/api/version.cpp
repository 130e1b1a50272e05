/// The functions swapmeet_version() and swapmeet_built_for().
#include <swapmeet/swapmeet.h>

#include "mpi/mpi.hpp"

#define SWAPMEET_TEXT(x) SWAPMEET_QUOTED(x)
#define SWAPMEET_QUOTED(x) #x

extern "C" __attribute__((visibility("default"))) const char* swapmeet_version(void) { return SWAPMEET_VERSION; }

extern "C" __attribute__((visibility("default"))) const char* swapmeet_built_for(void) {
#if defined(MPICH_VERSION)
  return "MPICH " MPICH_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
  return "Open MPI " SWAPMEET_TEXT(OMPI_MAJOR_VERSION) "." SWAPMEET_TEXT(OMPI_MINOR_VERSION) "." SWAPMEET_TEXT(
      OMPI_RELEASE_VERSION);
#elif defined(MPI_ABI_VERSION)
  return "the MPI-5 ABI";
#else
  return "an MPI of version " SWAPMEET_TEXT(MPI_VERSION) "." SWAPMEET_TEXT(MPI_SUBVERSION);
#endif
}
