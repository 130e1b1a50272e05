/* What persistent requests, and a few exchanges that are started on a communicator, make the ranks of a node agree on and make:
 * counted by agreements.c, which is preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { MOST_RANKS = 16, ROUNDS = 10 };

static int ranks, rank, wrong, mine[2 * MOST_RANKS], theirs[2 * MOST_RANKS];

static void check(void) {
  for (int i = 0; i < 2 * ranks; ++i) wrong += theirs[i] != 100 * (i / 2) + 2 * rank + i % 2, theirs[i] = -1;
}

static void persistent(void) {
  MPI_Request request;
  MPI_Alltoall_init(mine, 2, MPI_INT, theirs, 2, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), check();
  MPI_Request_free(&request);
}

static void started(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 4; ++i) {
    MPI_Ialltoall(mine, 2, MPI_INT, theirs, 2, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE), check();
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 2 * ranks; ++i) mine[i] = 100 * rank + i, theirs[i] = -1;
  const int *const agreements = dlsym(RTLD_DEFAULT, "agreements"), *const made = dlsym(RTLD_DEFAULT, "communicators");
  persistent();
  int before = *agreements, made_before = *made;
  for (int i = 0; i < ROUNDS; ++i) persistent();
  if (rank == 0) printf("persistent: %d agreements, %d communicators\n", *agreements - before, *made - made_before);
  before = *agreements, made_before = *made;
  for (int i = 0; i < ROUNDS; ++i) started();
  if (rank == 0) printf("started: %d agreements, %d communicators\n", *agreements - before, *made - made_before);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("set_ups: %s\n", wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong != 0;
}
