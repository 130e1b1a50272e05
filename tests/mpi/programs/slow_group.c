/* To be preloaded: counts the calls of PMPI_Comm_create_group, which take a while on rank 1. A library that is loaded late
 * looks up all functions of the host MPI in the first object that has PMPI_Comm_rank, or in what that needs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <unistd.h>

enum { A_WHILE_US = 300000 };

atomic_int groups_made;

int PMPI_Comm_rank(MPI_Comm comm, int *rank) {
  static int (*next)(MPI_Comm, int *);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_rank");
  return next(comm, rank);
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
  int rank;
  __typeof__(&PMPI_Comm_create_group) next;
  *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_create_group");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ++groups_made;
  if (rank == 1) usleep(A_WHILE_US);
  return next(comm, group, tag, made);
}
