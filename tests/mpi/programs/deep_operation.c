/* Reductions by an operation of the program, which takes as many bytes of stack as the first argument says, go on while
 * communicators are set up for non-blocking all-to-alls. Rank 0 prints "right", or "wrong". */
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 2000, COMMS = 20, CALLS = 9, MOST_RANKS = 8 };

static size_t deep;

static void add(void *in, void *sum, int *count, MPI_Datatype *type) {
  (void)type;
  volatile char *const memory = alloca(deep);
  for (size_t i = deep; i > 0; i -= i < 512 ? i : 512) memory[i - 1] = 1;
  for (int i = 0; i < *count; ++i) ((int *)sum)[i] += ((int *)in)[i];
}

int main(int count, char **words) {
  if (count != 2) return 2;
  deep = (size_t)atol(words[1]);
  MPI_Init(&count, &words);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > MOST_RANKS) return 3;
  MPI_Op operation;
  MPI_Op_create(add, 1, &operation);
  for (int made = 0; made < COMMS; ++made) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < CALLS; ++call) {
      int mine[COUNT], sums[2][COUNT], sent[MOST_RANKS], received[2][MOST_RANKS];
      for (int i = 0; i < COUNT; ++i) mine[i] = rank + i;
      for (int peer = 0; peer < ranks; ++peer) sent[peer] = 10 * rank + peer;
      MPI_Request requests[4];
      for (int i = 0; i < 2; ++i) {
        MPI_Iallreduce(mine, sums[i], COUNT, MPI_INT, operation, MPI_COMM_WORLD, &requests[2 * i]);
        MPI_Ialltoall(sent, 1, MPI_INT, received[i], 1, MPI_INT, comm, &requests[2 * i + 1]);
      }
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      if (call == 4) MPI_Alltoall(sent, 1, MPI_INT, received[0], 1, MPI_INT, comm);
      for (int i = 0; i < 2; ++i) {
        for (int peer = 0; peer < ranks; ++peer) wrong += received[i][peer] != 10 * peer + rank;
        for (int k = 0; k < COUNT; ++k) wrong += sums[i][k] != ranks * k + ranks * (ranks - 1) / 2;
      }
    }
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&operation);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) puts(all ? "wrong" : "right");
  MPI_Finalize();
  return 0;
}
