/* To be preloaded behind libswapmeet.so: the first MPI_Allgather of the library with LOST_BYTES bytes of each rank
 * works, but rank 1 of MPI_COMM_WORLD gets an error instead of the result, as do all its further attempts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int PMPI_Allgather(const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g) {
  static int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
  static int attempts;
  int rank, ranks, bytes;
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Allgather");
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 1 || attempts == 8) return next(a, b, c, d, e, f, g);
  if (attempts == 0) {
    PMPI_Comm_size(g, &ranks);
    PMPI_Type_size(f, &bytes);
    if (e * bytes != atoi(getenv("LOST_BYTES"))) return next(a, b, c, d, e, f, g);
    fprintf(stderr, "lost: %d bytes of each rank\n", e * bytes);
    void *const result = malloc((size_t)e * (size_t)bytes * (size_t)ranks);
    next(a, b, c, result, e, f, g);
    free(result);
  }
  ++attempts;
  return MPI_ERR_OTHER;
}
