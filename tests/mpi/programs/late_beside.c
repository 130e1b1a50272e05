/* late_beside dup|idup LIBRARY: opens the library after MPI_Init_thread. Its first all-to-all is on a communicator of all ranks,
 * while a second thread of rank 0 is in an MPI_Comm_dup, or MPI_Comm_idup, of MPI_COMM_WORLD. The other ranks call that when they
 * have exchanged. Prints "late_beside: right" or what is wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, ROUNDS = 5, WHILE_IT_BEGINS_US = 300000 };

static MPI_Comm other;
static int at_once;

static int exchange(__typeof__(&MPI_Alltoall) alltoall, MPI_Comm comm, int round) {
  int rank, ranks, send[MOST], receive[MOST], wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) send[i] = 1000 * round + 100 * rank + i, receive[i] = -1;
  alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) wrong += receive[i] != 1000 * round + 100 * i + rank;
  return wrong;
}

static void *duplicate(void *nothing) {
  MPI_Comm made;
  MPI_Request request = MPI_REQUEST_NULL;
  if (at_once) MPI_Comm_dup(MPI_COMM_WORLD, &made);
  else MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made);
  return nothing;
}

int main(int argc, char **argv) {
  int given, rank, wrong = 0, all = 0;
  pthread_t thread;
  if (argc != 3) return fprintf(stderr, "usage: late_beside dup|idup LIBRARY\n"), 2;
  at_once = strcmp(argv[1], "dup") == 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (given < MPI_THREAD_MULTIPLE) return puts("late_beside: no MPI_THREAD_MULTIPLE"), MPI_Finalize();
  void *const library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL),
              *found = library ? dlsym(library, "MPI_Alltoall") : NULL;
  if (!found) fprintf(stderr, "late_beside: %s\n", dlerror()), MPI_Abort(MPI_COMM_WORLD, 2);
  __typeof__(&MPI_Alltoall) alltoall;
  memcpy(&alltoall, &found, sizeof found);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) pthread_create(&thread, NULL, duplicate, NULL);
  usleep(WHILE_IT_BEGINS_US);
  for (int round = 0; round < ROUNDS; ++round) wrong += exchange(alltoall, other, round);
  if (rank == 0) pthread_join(thread, NULL);
  else duplicate(NULL);
  for (int round = 0; round < ROUNDS; ++round) wrong += exchange(alltoall, MPI_COMM_WORLD, round);
  MPI_Comm_free(&other);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("late_beside: %d blocks wrong\n", all);
  else if (rank == 0) puts("late_beside: right");
  MPI_Finalize();
  return 0;
}
