/* MPI_Comm_idup pending while all-to-alls of the same communicator begin and end, with MPI_THREAD_MULTIPLE; then blocking, started
 * and persistent exchanges on what it made. Any number of ranks. Prints "idup_beside: right" or "idup_beside: wrong". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, *out, *in;

static int swap(MPI_Comm comm, int key, int kind) {
  int bad = 0;
  MPI_Request request;
  for (int i = 0; i < ranks; i++) out[i] = rank * 100 + i + key, in[i] = -1;
  if (kind == 0) MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  if (kind == 1) MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
  if (kind == 2) MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &request), MPI_Start(&request);
  if (kind) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (kind == 2) MPI_Request_free(&request);
  for (int i = 0; i < ranks; i++) bad |= in[i] != i * 100 + rank + key;
  return bad;
}

int main(int argc, char **argv) {
  enum { K = 8 };
  int level, bad = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  out = calloc(ranks, sizeof *out), in = calloc(ranks, sizeof *in);
  for (int round = 0; round < 20; round++) {
    MPI_Comm made[K];
    MPI_Request making[K];
    for (int k = 0; k < K; k++) {
      MPI_Comm_idup(MPI_COMM_WORLD, &made[k], &making[k]);
      bad |= swap(MPI_COMM_WORLD, k, 0);
    }
    bad |= swap(MPI_COMM_WORLD, round, 1);
    MPI_Waitall(K, making, MPI_STATUSES_IGNORE);
    for (int k = 0; k < K; k++)
      for (int i = 0; i < 8; i++) bad |= swap(made[k], i, i % 3);
    for (int k = 0; k < K; k++) MPI_Comm_free(&made[k]);
  }
  MPI_Reduce(rank ? &bad : MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(bad ? "idup_beside: wrong" : "idup_beside: right");
  MPI_Finalize();
  return 0;
}
