/* Communicators of some of the ranks, in either order, made one after the other: their ranks, sizes and order differ, so that what
 * is kept of one for the next must be told apart. Each has calls with blocks of three sizes, all of which are checked; then some
 * are freed and others stay for a while. Prints "reused: 0 errors". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, KEPT = 3, CALLS = 6 };
static const int sizes[] = {8, 3000, 40000};

static unsigned char byte_of(int from, int to, int round, int at) {
  return (unsigned char)(from * 31 + to * 17 + round * 7 + at * 3);
}

static long wrong_bytes(MPI_Comm comm, int bytes, int round) {
  long wrong = 0;
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  unsigned char *const send = malloc((size_t)ranks * (size_t)bytes), *const receive =
                                                                         malloc((size_t)ranks * (size_t)bytes);
  for (int to = 0; to < ranks; ++to)
    for (int at = 0; at < bytes; ++at) send[(size_t)to * (size_t)bytes + (size_t)at] = byte_of(rank, to, round, at);
  memset(receive, 0xee, (size_t)ranks * (size_t)bytes);
  MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm);
  for (int from = 0; from < ranks; ++from)
    for (int at = 0; at < bytes; ++at)
      wrong += receive[(size_t)from * (size_t)bytes + (size_t)at] != byte_of(from, rank, round, at);
  free(send), free(receive);
  return wrong;
}

int main(int argc, char **argv) {
  MPI_Comm kept[KEPT] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
  long wrong = 0, all = 0;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm *const comm = &kept[round % KEPT];
    const int groups = round % 3 + 1, key = round % 2 == 0 ? rank : ranks - rank;
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
    MPI_Comm_split(MPI_COMM_WORLD, (rank + round) % groups, key, comm);
    for (int call = 0; call < CALLS; ++call)
      for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; ++size)
        wrong += wrong_bytes(*comm, sizes[size], round + call);
    if (kept[(round + 1) % KEPT] != MPI_COMM_NULL) wrong += wrong_bytes(kept[(round + 1) % KEPT], 500, round);
  }
  for (int k = 0; k < KEPT; ++k)
    if (kept[k] != MPI_COMM_NULL) MPI_Comm_free(&kept[k]);
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("reused: %ld errors\n", all);
  MPI_Finalize();
  return 0;
}
