/* To be preloaded: an MPI_Comm_dup that leaves a file behind, and memory. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>

void *leaks_last;

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
  leaks_last = malloc(4096);
  return open("/dev/null", O_RDONLY) < 0 ? MPI_ERR_OTHER : PMPI_Comm_dup(comm, made);
}
