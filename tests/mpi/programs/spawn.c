/* Spawns two ranks, which may not have the library that the parents have, and exchanges over all kinds of
 * communicators: the parents' world, the merged one, and halves of it. Every byte is checked. Prints "spawn: right"
 * once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 12, CHILDREN = 2 };

static unsigned char value(int source, int destination, int call) {
  return (unsigned char)(source * 5 + destination + call);
}

static void exchange(MPI_Comm comm, size_t bytes, int call) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  unsigned char *send = malloc((size_t)ranks * bytes), *receive = malloc((size_t)ranks * bytes);
  for (int d = 0; d < ranks; ++d) memset(send + (size_t)d * bytes, value(rank, d, call), bytes);
  for (int s = 0; s < ranks; ++s) memset(receive + (size_t)s * bytes, ~value(s, rank, call), bytes);
  MPI_Alltoall(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, comm);
  for (size_t i = 0; i < (size_t)ranks * bytes; ++i)
    if (receive[i] != value((int)(i / bytes), rank, call)) {
      fprintf(stderr, "spawn: wrong data on rank %d of %d\n", rank, ranks);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  free(send);
  free(receive);
}

static void calls(MPI_Comm comm, size_t bytes) {
  for (int call = 0; call < CALLS; ++call) exchange(comm, bytes, call);
}

int main(int argc, char **argv) {
  MPI_Comm family, merged, half;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&family);
  const int child = family != MPI_COMM_NULL;
  if (!child)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &family, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(family, child, &merged);
  MPI_Comm_rank(merged, &rank);
  calls(MPI_COMM_WORLD, 3000);
  calls(merged, 3000);
  MPI_Comm_split(merged, rank % 2, -rank, &half);
  calls(half, 70000);
  if (rank == 0) puts("spawn: right");
  fflush(stdout);
  MPI_Comm_free(&half);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&family);
  MPI_Finalize();
  return 0;
}
