/* To be preloaded behind libswapmeet.so: how many communicators of several ranks the library makes, by whatever function, printed
 * by rank 0 in MPI_Finalize: "counts_made: 1". What the application makes does not come by here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int made;

static void find_next(const char *name, void *function) {
  void *const found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

static void count(MPI_Comm parent) {
  int ranks = 0;
  MPI_Comm_size(parent, &ranks);
  if (ranks > 1) ++made;
}

#define COUNTED(name, parameters, arguments, parent) \
  int name parameters {                              \
    int(*next) parameters;                           \
    find_next(#name, &next);                         \
    count(parent);                                   \
    return next arguments;                           \
  }

COUNTED(PMPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *created), (comm, group, created), comm)
COUNTED(PMPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *created),
        (comm, group, tag, created), comm)
COUNTED(PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm *created), (comm, created), comm)
COUNTED(PMPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *created), (comm, info, created), comm)
COUNTED(PMPI_Comm_idup, (MPI_Comm comm, MPI_Comm *created, MPI_Request *request), (comm, created, request), comm)
COUNTED(PMPI_Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *created), (comm, colour, key, created), comm)
COUNTED(PMPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *created),
        (comm, type, key, info, created), comm)
#if MPI_VERSION >= 4
COUNTED(PMPI_Comm_create_from_group,
        (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *created),
        (group, tag, info, handler, created), MPI_COMM_WORLD)
#endif

int MPI_Finalize(void) {
  int (*next)(void), rank = 0;
  find_next("MPI_Finalize", &next);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("counts_made: %d\n", made);
  return next();
}
