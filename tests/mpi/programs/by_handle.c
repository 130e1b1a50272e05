/* by_handle LIBRARY: an all-to-all by the function that the loader finds from a library on, as Julia's MPI.jl and other
 * languages call MPI: what is preloaded does not come before that. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { MOST_RANKS = 64 };

int main(int argc, char **argv) {
  int rank, ranks, sent[MOST_RANKS], received[MOST_RANKS], wrong = 0;
  int (*exchange)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
  void *library = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL) : NULL;
  if (!library) return fprintf(stderr, "by_handle: %s\n", argc > 1 ? dlerror() : "which library?"), 2;
  *(void **)&exchange = dlsym(library, "MPI_Alltoall");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) sent[i] = 100 * rank + i, received[i] = -1;
  exchange(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) wrong += received[i] != 100 * i + rank;
  if (rank == 0) printf("wrong: %d\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
