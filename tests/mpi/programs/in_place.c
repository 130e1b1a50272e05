/* MPI_IN_PLACE: blocks of many sizes, equal ones and others, by calls that block, that do not, and that persist. Prints
 * "in_place: right".
 *
 *   in_place [CALLS]  CALLS: so many MPI_Alltoall of large blocks besides */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, LARGEST = 12 };

static int rank, ranks, wrong;

static unsigned char value(int round, int source, int destination, size_t i) {
  return (unsigned char)(round * 31 + source * 7 + destination * 13 + (int)(i % 251) + (int)(i >> 12));
}

/* Counts are those of pairs: as many one way as the other. */
static int count(int bytes, int varies, int a, int b) { return varies ? bytes * ((a + b) % 3) / 2 : bytes; }

static void exchange(int round, int bytes, int varies, int how) {
  int *counts = malloc((size_t)ranks * sizeof *counts), *places = malloc((size_t)ranks * sizeof *places);
  size_t all = GUARD;
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = count(bytes, varies, rank, peer), places[peer] = (int)all;
    all += (size_t)counts[peer] + (varies ? 3 : 0); /* odd addresses, and gaps */
  }
  unsigned char *const memory = malloc(all + GUARD);
  memset(memory, 0xee, all + GUARD);
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < counts[peer]; ++i) memory[places[peer] + i] = value(round, rank, peer, (size_t)i);
  MPI_Request request = MPI_REQUEST_NULL;
  void *const equal = memory + GUARD, *const no = MPI_IN_PLACE;
  const MPI_Datatype byte = MPI_BYTE;
  const MPI_Comm comm = MPI_COMM_WORLD;
  if (how == 0 && varies) MPI_Alltoallv(no, NULL, NULL, byte, memory, counts, places, byte, comm);
  if (how == 0 && !varies) MPI_Alltoall(no, 0, byte, equal, bytes, byte, comm);
  if (how == 1 && varies) MPI_Ialltoallv(no, NULL, NULL, byte, memory, counts, places, byte, comm, &request);
  if (how == 1 && !varies) MPI_Ialltoall(no, 0, byte, equal, bytes, byte, comm, &request);
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
  if (how == 2 && varies)
    MPI_Alltoallv_init(no, NULL, NULL, byte, memory, counts, places, byte, comm, MPI_INFO_NULL, &request);
  if (how == 2 && !varies) MPI_Alltoall_init(no, 0, byte, equal, bytes, byte, comm, MPI_INFO_NULL, &request);
  if (how == 2) MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request);
#else
  if (how == 2) MPI_Alltoallv(no, NULL, NULL, byte, memory, counts, places, byte, comm);
#endif
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < counts[peer]; ++i) {
      wrong += memory[places[peer] + i] != value(round, peer, rank, (size_t)i);
      memory[places[peer] + i] = 0xee;
    }
  for (size_t i = 0; i < all + GUARD; ++i) wrong += memory[i] != 0xee; /* guards and gaps */
  free(memory), free(counts), free(places);
  MPI_Barrier(comm);
}

int main(int argc, char **argv) {
  static const int sizes[] = {1, 8, 60, 100, 1000, 4096, 4100, 16384, 33000, 70000, 262144, 263000, 600000};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int round = 0, all = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    for (int way = 0; way < 6; ++way)
      for (int again = 0; again < 4; ++again) exchange(++round, sizes[i], way % 2, way / 2);
  for (int calls = argc > 1 ? atoi(argv[1]) : 0; calls > 0; --calls) exchange(++round, sizes[LARGEST], 0, 0);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(all ? "in_place: %d bytes are wrong\n" : "in_place: right\n", all);
  MPI_Finalize();
  return all != 0;
}
