/* lacks_late LIBRARY RANK: an all-to-all on all ranks, of which those but RANK load the library after MPI_Init, by a handle.
 * It must end with an error on those that get no answer of the library from that rank. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_RANKS = 64 };

int main(int argc, char **argv) {
  int rank, sent[2 * MOST_RANKS] = {0}, received[2 * MOST_RANKS];
  int (*exchange)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm) = MPI_Alltoall;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc != 3) return 2;
  if (rank != atoi(argv[2])) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "lacks_late: %s\n", dlerror()), 2;
    *(void **)&exchange = dlsym(library, "MPI_Alltoall");
  }
  exchange(sent, 2, MPI_INT, received, 2, MPI_INT, MPI_COMM_WORLD);
  sleep(1); /* until one of them has printed what is wrong */
  _Exit(0);
}
