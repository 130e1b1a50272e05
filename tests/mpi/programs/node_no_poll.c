/* To be preloaded: MPI makes no progress while the library waits. So a test of progress can be seen to fail. */
#include <mpi.h>

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  (void)source, (void)tag, (void)comm, (void)status;
  *flag = 0;
  return MPI_SUCCESS;
}
