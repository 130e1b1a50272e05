/* Calls what a tool may wrap, each a number of times of its own, and checks the answers of all-to-alls on two ranks. */
#include <mpi.h>
#include <stdio.h>

enum { ranks = 2 };

static int rank, wrong, send[ranks], receive[ranks];

static void fill(void) {
  for (int peer = 0; peer < ranks; ++peer) send[peer] = 10 * rank + peer + 1, receive[peer] = -1;
}

static void check(void) {
  for (int peer = 0; peer < ranks; ++peer) wrong += receive[peer] != 10 * peer + rank + 1;
}

static void exchange(MPI_Comm comm) {
  const int ones[ranks] = {1, 1}, places[ranks] = {0, 1}, bytes[ranks] = {0, sizeof(int)};
  const MPI_Datatype ints[ranks] = {MPI_INT, MPI_INT};
  MPI_Request request;
  for (int i = 0; i < 9; ++i) fill(), MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm), check();
  for (int i = 0; i < 8; ++i)
    fill(), MPI_Alltoallv(send, ones, places, MPI_INT, receive, ones, places, MPI_INT, comm), check();
  for (int i = 0; i < 7; ++i) fill(), MPI_Alltoallw(send, ones, bytes, ints, receive, ones, bytes, ints, comm), check();
  for (int i = 0; i < 6; ++i) {
    fill(), MPI_Ialltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE), check();
  }
  MPI_Alltoall_init(send, 1, MPI_INT, receive, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
  for (int i = 0; i < 5; ++i) fill(), MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), check();
  for (int i = 0; i < 4; ++i) fill(), MPI_Startall(1, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), check();
  MPI_Request_free(&request);
}

int main(int argc, char **argv) {
  MPI_Comm other;
  MPI_Request requests[2];
  int sum, all[ranks];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Irecv(&sum, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  exchange(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  exchange(other);
  MPI_Comm_free(&other);
  printf("tooled: %s\n", wrong ? "wrong" : "right");
  MPI_Finalize();
  return 0;
}
