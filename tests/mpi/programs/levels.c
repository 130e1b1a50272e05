/* A tool that only looks: counts calls by their MPI_ and by their PMPI_ name, each of which goes on to the next of the same
 * name; or, with -DBY_PMPI, by their MPI_ name alone, which goes on by the PMPI_ name, as MPI means it. At the end rank 0
 * prints "levels: NAME MPI/PMPI, ...". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define EACH(ONE)                                                                                                     \
  ONE(Init, (int *a, char ***b), (a, b))                                                                              \
  ONE(Barrier, (MPI_Comm a), (a))                                                                                     \
  ONE(Bcast, (void *a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))                                    \
  ONE(Allreduce, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))           \
  ONE(Allgather, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g),                  \
      (a, b, c, d, e, f, g))                                                                                          \
  ONE(Sendrecv,                                                                                                       \
      (const void *a, int b, MPI_Datatype c, int d, int e, void *f, int g, MPI_Datatype h, int i, int j, MPI_Comm k,  \
       MPI_Status *l),                                                                                                \
      (a, b, c, d, e, f, g, h, i, j, k, l))                                                                           \
  ONE(Isend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g)) \
  ONE(Irecv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))       \
  ONE(Wait, (MPI_Request * a, MPI_Status * b), (a, b))                                                                \
  ONE(Waitall, (int a, MPI_Request b[], MPI_Status *c), (a, b, c))                                                    \
  ONE(Start, (MPI_Request * a), (a))                                                                                  \
  ONE(Startall, (int a, MPI_Request b[]), (a, b))                                                                     \
  ONE(Request_free, (MPI_Request * a), (a))                                                                           \
  ONE(Comm_dup, (MPI_Comm a, MPI_Comm * b), (a, b))                                                                   \
  ONE(Comm_create, (MPI_Comm a, MPI_Group b, MPI_Comm * c), (a, b, c))                                                \
  ONE(Comm_free, (MPI_Comm * a), (a))                                                                                 \
  ONE(Alltoall, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g),                   \
      (a, b, c, d, e, f, g))                                                                                          \
  ONE(Alltoallv,                                                                                                      \
      (const void *a, const int b[], const int c[], MPI_Datatype d, void *e, const int f[], const int g[],            \
       MPI_Datatype h, MPI_Comm i),                                                                                   \
      (a, b, c, d, e, f, g, h, i))                                                                                    \
  ONE(Alltoallw,                                                                                                      \
      (const void *a, const int b[], const int c[], const MPI_Datatype d[], void *e, const int f[], const int g[],    \
       const MPI_Datatype h[], MPI_Comm i),                                                                           \
      (a, b, c, d, e, f, g, h, i))                                                                                    \
  ONE(Ialltoall, (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g, MPI_Request *h),  \
      (a, b, c, d, e, f, g, h))                                                                                       \
  ONE(Alltoall_init,                                                                                                  \
      (const void *a, int b, MPI_Datatype c, void *d, int e, MPI_Datatype f, MPI_Comm g, MPI_Info h, MPI_Request *i), \
      (a, b, c, d, e, f, g, h, i))

#ifdef BY_PMPI
#define WRAP(name, parameters, arguments) \
  static int mpi_##name, pmpi_##name;     \
  int MPI_##name parameters {             \
    ++mpi_##name;                         \
    return PMPI_##name arguments;         \
  }
#else
#define WRAP(name, parameters, arguments)          \
  static int mpi_##name, pmpi_##name;              \
  int MPI_##name parameters {                      \
    int(*next) parameters;                         \
    void *found = dlsym(RTLD_NEXT, "MPI_" #name);  \
    memcpy(&next, &found, sizeof next);            \
    ++mpi_##name;                                  \
    return next arguments;                         \
  }                                                \
  int PMPI_##name parameters {                     \
    int(*next) parameters;                         \
    void *found = dlsym(RTLD_NEXT, "PMPI_" #name); \
    memcpy(&next, &found, sizeof next);            \
    ++pmpi_##name;                                 \
    return next arguments;                         \
  }
#endif
EACH(WRAP)

#define PRINT(name, parameters, arguments) length += sprintf(line + length, #name " %d/%d, ", mpi_##name, pmpi_##name);

int MPI_Finalize(void) {
  int rank, length = 0, (*next)(void);
  char line[2000];
  void *found = dlsym(RTLD_NEXT, "MPI_Finalize");
  memcpy(&next, &found, sizeof next);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EACH(PRINT)
  if (rank == 0) printf("levels: %s\n", line);
  fflush(stdout);
  return next();
}
