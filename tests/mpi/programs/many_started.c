/* many_started ROUNDS: two threads, each with a communicator of its own, start several MPI_Ialltoall in each round and then wait
 * for all of them, while the other thread's waiting moves them on, too. Prints "many_started: right" or what is wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, STARTED = 6, MOST_RANKS = 8 };

static int rank, ranks, rounds;

typedef struct {
  MPI_Comm comm;
  int wrong;
} Own;

static void *run(void *argument) {
  Own *const own = argument;
  int out[STARTED][MOST_RANKS], in[STARTED][MOST_RANKS];
  MPI_Request requests[STARTED];
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < STARTED; ++k) {
      for (int i = 0; i < ranks; ++i) out[k][i] = 1000 * round + 100 * k + 10 * rank + i, in[k][i] = -1;
      MPI_Ialltoall(out[k], 1, MPI_INT, in[k], 1, MPI_INT, own->comm, &requests[k]);
    }
    MPI_Waitall(STARTED, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < STARTED; ++k)
      for (int i = 0; i < ranks; ++i) own->wrong += in[k][i] != 1000 * round + 100 * k + 10 * i + rank;
    if (round == 0) MPI_Alltoall(out[0], 1, MPI_INT, in[0], 1, MPI_INT, own->comm); /* where ranks meet */
  }
  return NULL;
}

int main(int argc, char **argv) {
  int level, wrong = 0, all = 0;
  pthread_t threads[THREADS];
  Own own[THREADS] = {{MPI_COMM_NULL, 0}};
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 2 || ranks > MOST_RANKS || level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  rounds = atoi(argv[1]);
  for (int t = 0; t < THREADS; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &own[t].comm);
  for (int t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, run, &own[t]);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL), wrong += own[t].wrong;
  for (int t = 0; t < THREADS; ++t) MPI_Comm_free(&own[t].comm);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("many_started: %d elements wrong\n", all);
  else if (rank == 0) puts("many_started: right");
  MPI_Finalize();
  return 0;
}
