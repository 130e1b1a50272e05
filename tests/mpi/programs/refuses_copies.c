/* refuses_copies: MPI_Ialltoall, and no other collective call, on a communicator with an attribute whose copy callback
 * refuses on all ranks. Prints "refuses_copies: right" or what is wrong. */
#include <mpi.h>
#include <stdio.h>

enum { MOST_RANKS = 16, CALLS = 12 };

static int refuse(MPI_Comm comm, int key, void *extra, void *in, void *out, int *copied) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  *copied = 0;
  return MPI_ERR_OTHER;
}

int main(int argc, char **argv) {
  int rank, ranks, key, value = 7, *found = NULL, there = 0, wrong = 0, all = 0, send[MOST_RANKS], receive[MOST_RANKS];
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, &value);
  for (int call = 0; call < CALLS; ++call) {
    MPI_Request request;
    for (int i = 0; i < ranks; ++i) send[i] = 10000 * call + 100 * rank + i, receive[i] = -1;
    MPI_Ialltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; ++i) wrong += receive[i] != 10000 * call + 100 * i + rank;
  }
  MPI_Comm_get_attr(comm, key, &found, &there);
  wrong += !there || found != &value;
  MPI_Comm_free(&comm);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("refuses_copies: %d wrong\n", all);
  else if (rank == 0) puts("refuses_copies: right");
  MPI_Finalize();
  return 0;
}
