/* threaded_plans: three threads of each rank exchange at a time, each on communicators of its own, by several persistent
 * MPI_Alltoall_init at a time that are made anew each round. Prints "threaded_plans: right" or what is wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, COMMS = 3, ROUNDS = 12, AT_A_TIME = 6, MOST_RANKS = 8, MOST_INTS = 64 };

static MPI_Comm comms[THREADS][COMMS];
static atomic_int wrong;

/* What `from` sends to `to` in the k-th exchange of a round. */
static int value(int thread, int round, int k, int from, int to, int i) {
  return ((((thread * ROUNDS + round) * AT_A_TIME + k) * MOST_RANKS + from) * MOST_RANKS + to) * MOST_INTS + i;
}

static void exchange(int thread, int round, MPI_Comm comm) {
  static _Thread_local int send[AT_A_TIME][MOST_RANKS * MOST_INTS], receive[AT_A_TIME][MOST_RANKS * MOST_INTS];
  MPI_Request requests[AT_A_TIME];
  int ranks, rank;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  for (int k = 0; k < AT_A_TIME; ++k) {
    const int ints = 1 << k;
    for (int to = 0; to < ranks; ++to)
      for (int i = 0; i < ints; ++i) send[k][to * ints + i] = value(thread, round, k, rank, to, i);
    for (int i = 0; i < ranks * ints; ++i) receive[k][i] = -1;
    MPI_Alltoall_init(send[k], ints, MPI_INT, receive[k], ints, MPI_INT, comm, MPI_INFO_NULL, &requests[k]);
  }
  MPI_Startall(AT_A_TIME, requests);
  MPI_Waitall(AT_A_TIME, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < AT_A_TIME; ++k) {
    const int ints = 1 << k;
    for (int from = 0; from < ranks; ++from)
      for (int i = 0; i < ints; ++i)
        if (receive[k][from * ints + i] != value(thread, round, k, from, rank, i)) ++wrong;
    MPI_Request_free(&requests[k]);
  }
}

static void *work(void *argument) {
  const int thread = (int)(intptr_t)argument;
  for (int round = 0; round < ROUNDS; ++round) exchange(thread, round, comms[thread][round % COMMS]);
  return NULL;
}

int main(int argc, char **argv) {
  int given, rank, sum = 0;
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (given < MPI_THREAD_MULTIPLE) return puts("threaded_plans: no MPI_THREAD_MULTIPLE"), MPI_Finalize();
  for (int t = 0; t < THREADS; ++t)
    for (int c = 0; c < COMMS; ++c) MPI_Comm_split(MPI_COMM_WORLD, c == 0 ? 0 : (rank + t) / (c + 1), 0, &comms[t][c]);
  for (int t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  int mine = wrong;
  MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && sum > 0) printf("threaded_plans: %d wrong\n", sum);
  else if (rank == 0) puts("threaded_plans: right");
  for (int t = 0; t < THREADS; ++t)
    for (int c = 0; c < COMMS; ++c) MPI_Comm_free(&comms[t][c]);
  MPI_Finalize();
  return 0;
}
