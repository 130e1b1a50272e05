/* Two all-to-alls, checked, to the second of which one rank comes late.
 *
 *   late_exchange LATE [v]
 *
 * MPI_Alltoall of two ints for each rank, or with v MPI_Alltoallv of 0 to 2. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 8, room = 2, late_us = 300000, guard = 0x5a5a5a5a };

static int count(int from, int to, int varying) { return varying ? (from + 2 * to) % (room + 1) : room; }

static int exchange(int rank, int ranks, int varying) {
  int send[room * most], receive[room * most + 2], wrong = 0;
  int counts[2][most], places[most];
  memset(receive, 0x5a, sizeof receive);
  for (int i = 0; i < ranks; ++i) {
    places[i] = room * i;
    counts[0][i] = count(rank, i, varying), counts[1][i] = count(i, rank, varying);
    for (int k = 0; k < room; ++k) send[room * i + k] = 1000 * rank + 10 * i + k;
  }
  int *const into = receive + 1;
  if (varying) MPI_Alltoallv(send, counts[0], places, MPI_INT, into, counts[1], places, MPI_INT, MPI_COMM_WORLD);
  else MPI_Alltoall(send, room, MPI_INT, into, room, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < room; ++k) wrong += into[room * i + k] != (k < counts[1][i] ? 1000 * i + 10 * rank + k : guard);
  return wrong + (receive[0] != guard) + (into[room * ranks] != guard);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2 || ranks > most) MPI_Abort(MPI_COMM_WORLD, 2);
  int wrong = exchange(rank, ranks, argc > 2);
  if (rank == atoi(argv[1])) usleep(late_us);
  wrong += exchange(rank, ranks, argc > 2);
  if (wrong) printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
