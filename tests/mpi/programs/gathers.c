/* To be preloaded behind libswapmeet.so: prints how often PMPI_Allgather was called, which is once for each communicator
 * that is set up. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int calls;

int PMPI_Allgather(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g) {
  static int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
  if (!next)
    next = (int (*)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm))dlsym(RTLD_NEXT,
                                                                                                "PMPI_Allgather");
  ++calls;
  return next(a, b, c, d, e, f, g);
}

__attribute__((destructor)) static void print(void) {
  if (calls) printf("set up: %d\n", calls);
}
