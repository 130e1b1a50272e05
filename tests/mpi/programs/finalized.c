/* What the library's own functions say after MPI_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, sent[16] = {0}, received[16];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Finalize();
  int (*set_algorithm)(MPI_Comm, const char *) =
      (int (*)(MPI_Comm, const char *))dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  int (*phases_begin)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "swapmeet_phases_begin");
  const char *(*message)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "swapmeet_error_message");
  if (set_algorithm(MPI_COMM_WORLD, "pairwise") == MPI_ERR_COMM && phases_begin(MPI_COMM_WORLD) == MPI_ERR_COMM &&
      rank == 0)
    printf("refused: %s\n", message());
  return 0;
}
