/* A tool as there are many: wraps MPI_ names and says at the end what it saw. It goes on by the PMPI_ names, as MPI
 * means it; or, with -DBY_DLSYM, by whoever has the MPI_ name next. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifdef BY_DLSYM
#define NEXT(name, arguments)                   \
  static int (*next)();                         \
  void *found = dlsym(RTLD_NEXT, "MPI_" #name); \
  memcpy(&next, &found, sizeof next);           \
  return next arguments
#else
#define NEXT(name, arguments) return PMPI_##name arguments
#endif

static int alltoalls, alltoallvs, alltoallws, nonblocking;

#define UNIFORM \
  const void *sent, int send_count, MPI_Datatype send_type, void *to, int count, MPI_Datatype type, MPI_Comm comm
#define VECTOR                                                                                          \
  const void *sent, const int send_counts[], const int send_places[], MPI_Datatype send_type, void *to, \
      const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm
#define TYPED                                                                                                   \
  const void *sent, const int send_counts[], const int send_places[], const MPI_Datatype send_type[], void *to, \
      const int counts[], const int places[], const MPI_Datatype type[], MPI_Comm comm
#define UNIFORM_GIVEN sent, send_count, send_type, to, count, type, comm
#define VECTOR_GIVEN sent, send_counts, send_places, send_type, to, counts, places, type, comm

int MPI_Alltoall(UNIFORM) {
  ++alltoalls;
  NEXT(Alltoall, (UNIFORM_GIVEN));
}
int MPI_Alltoallv(VECTOR) {
  ++alltoallvs;
  NEXT(Alltoallv, (VECTOR_GIVEN));
}
int MPI_Alltoallw(TYPED) {
  ++alltoallws;
  NEXT(Alltoallw, (VECTOR_GIVEN));
}
int MPI_Ialltoall(UNIFORM, MPI_Request *request) {
  ++nonblocking;
  NEXT(Ialltoall, (UNIFORM_GIVEN, request));
}
int MPI_Ialltoallv(VECTOR, MPI_Request *request) {
  ++nonblocking;
  NEXT(Ialltoallv, (VECTOR_GIVEN, request));
}
int MPI_Ialltoallw(TYPED, MPI_Request *request) {
  ++nonblocking;
  NEXT(Ialltoallw, (VECTOR_GIVEN, request));
}

int MPI_Finalize(void) {
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    printf("profiler: %d Alltoall, %d Alltoallv, %d Alltoallw, %d non-blocking\n", alltoalls, alltoallvs, alltoallws,
           nonblocking);
  fflush(stdout);
  return PMPI_Finalize();
}
