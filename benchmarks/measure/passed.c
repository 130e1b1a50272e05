/* Between libswapmeet.so and the MPI: counts the calls that the library leaves to the host MPI. The measuring
 * program is linked to it ahead of the MPI, so the library, which looks for PMPI_ names behind itself, finds these
 * first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#include "passed.h"

static int passed;

int measure_passed(void) { return passed; }

#define UNDERNEATH(name, parameters, arguments)                       \
  int name parameters {                                               \
    static int(*underneath) parameters;                               \
    if (!underneath) *(void **)&underneath = dlsym(RTLD_NEXT, #name); \
    ++passed;                                                         \
    return underneath arguments;                                      \
  }

UNDERNEATH(PMPI_Alltoall,
           (const void *send, int sends, MPI_Datatype sent, void *receive, int receives, MPI_Datatype received,
            MPI_Comm comm),
           (send, sends, sent, receive, receives, received, comm))
UNDERNEATH(PMPI_Alltoallv,
           (const void *send, const int *sends, const int *from, MPI_Datatype sent, void *receive, const int *receives,
            const int *to, MPI_Datatype received, MPI_Comm comm),
           (send, sends, from, sent, receive, receives, to, received, comm))
