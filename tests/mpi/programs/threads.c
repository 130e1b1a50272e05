/* Two threads of each rank, each with its own communicator and sizes, call MPI_Alltoall at the same time. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, CALLS = 200, MOST = 700 };

typedef struct {
  MPI_Comm comm;
  int thread, wrong;
} Work;

static int value(int thread, int call, int source, int destination, int index) {
  return ((thread * 251 + call) * 31 + source) * 31 + destination + index;
}

static void *exchange(void *argument) {
  Work *work = argument;
  int rank, ranks;
  MPI_Comm_rank(work->comm, &rank);
  MPI_Comm_size(work->comm, &ranks);
  int *send = malloc((size_t)ranks * MOST * sizeof *send), *receive = malloc((size_t)ranks * MOST * sizeof *receive);
  for (int call = 0; call < CALLS; ++call) {
    const int count = 1 + (call * 37 + work->thread * 101) % MOST;
    for (int peer = 0; peer < ranks; ++peer)
      for (int k = 0; k < count; ++k) {
        send[peer * count + k] = value(work->thread, call, rank, peer, k);
        receive[peer * count + k] = -1;
      }
    MPI_Alltoall(send, count, MPI_INT, receive, count, MPI_INT, work->comm);
    for (int peer = 0; peer < ranks; ++peer)
      for (int k = 0; k < count; ++k)
        work->wrong += receive[peer * count + k] != value(work->thread, call, peer, rank, k);
  }
  free(send), free(receive);
  return NULL;
}

int main(int argc, char **argv) {
  int provided, rank, wrong = 0, all_wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) puts("threads: no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
  pthread_t threads[THREADS];
  Work work[THREADS];
  for (int k = 0; k < THREADS; ++k) {
    work[k] = (Work){MPI_COMM_NULL, k, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &work[k].comm);
  }
  for (int k = 0; k < THREADS; ++k) pthread_create(&threads[k], NULL, exchange, &work[k]);
  for (int k = 0; k < THREADS; ++k) pthread_join(threads[k], NULL), wrong += work[k].wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int k = 0; k < THREADS; ++k) MPI_Comm_free(&work[k].comm);
  if (rank == 0) printf("threads: %d elements wrong\n", all_wrong);
  MPI_Finalize();
  return 0;
}
