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

/* Persistent requests whose messages the host MPI sends, though the ranks share memory. Returns the agreements of a request
 * that is made while they exist. */
static int beside_others(const int *agreements) {
  enum { MANY = 6 };
  MPI_Request requests[MANY];
  int (*set)(MPI_Comm, const char *) = (int (*)(MPI_Comm, const char *))dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  wrong += set(MPI_COMM_WORLD, "pairwise");
  for (int i = 0; i < MANY; ++i)
    MPI_Alltoall_init(mine, 2, MPI_INT, theirs, 2, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  wrong += set(MPI_COMM_WORLD, NULL);
  persistent();
  const int before = *agreements;
  persistent();
  const int number = *agreements - before;
  for (int i = 0; i < MANY; ++i) MPI_Request_free(&requests[i]);
  return number;
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
  const int number = beside_others(agreements);
  if (rank == 0) printf("beside others: %d agreements\n", number);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("set_ups: %s\n", wrong ? "wrong" : "right");
  MPI_Finalize();
  return wrong != 0;
}
