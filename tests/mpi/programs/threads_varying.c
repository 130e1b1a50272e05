/* Two threads of each rank, each with two communicators of its own, call MPI_Alltoallv in turn on these, with blocks of
 * unequal size: most small, some empty, a few large. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, COMMS = 2, CALLS = 60, LARGE = 20000 };

typedef struct {
  MPI_Comm comms[COMMS];
  int thread, wrong;
} Work;

static int length(int thread, int call, int source, int destination) {
  const int draw = ((thread * 7 + call) * 31 + source) * 17 + destination * 5;
  return draw % 23 == 0 ? LARGE : draw % 3 == 0 ? 0 : draw % 50;
}

static int value(int thread, int call, int source, int destination, int index) {
  return ((thread * 251 + call) * 31 + source) * 31 + destination + index;
}

static void exchange(Work *work, MPI_Comm comm, int call) {
  int rank, ranks, sent = 0, received = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int *numbers = malloc(4 * (size_t)ranks * sizeof *numbers), *counts = numbers, *places = numbers + ranks;
  int *expected = numbers + 2 * ranks, *homes = numbers + 3 * ranks;
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = length(work->thread, call, rank, peer), expected[peer] = length(work->thread, call, peer, rank);
    places[peer] = sent, homes[peer] = received;
    sent += counts[peer], received += expected[peer];
  }
  int *send = malloc(((size_t)sent + 1) * sizeof *send), *receive = malloc(((size_t)received + 1) * sizeof *receive);
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < counts[peer]; ++k) send[places[peer] + k] = value(work->thread, call, rank, peer, k);
  for (int k = 0; k <= received; ++k) receive[k] = -1;
  MPI_Alltoallv(send, counts, places, MPI_INT, receive, expected, homes, MPI_INT, comm);
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < expected[peer]; ++k)
      work->wrong += receive[homes[peer] + k] != value(work->thread, call, peer, rank, k);
  work->wrong += receive[received] != -1;
  free(numbers), free(send), free(receive);
}

static void *run(void *argument) {
  Work *work = argument;
  for (int call = 0; call < CALLS; ++call) exchange(work, work->comms[call % COMMS], call);
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
    work[k] = (Work){.thread = k};
    for (int c = 0; c < COMMS; ++c) MPI_Comm_dup(MPI_COMM_WORLD, &work[k].comms[c]);
  }
  for (int k = 0; k < THREADS; ++k) pthread_create(&threads[k], NULL, run, &work[k]);
  for (int k = 0; k < THREADS; ++k) pthread_join(threads[k], NULL), wrong += work[k].wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int k = 0; k < THREADS; ++k)
    for (int c = 0; c < COMMS; ++c) MPI_Comm_free(&work[k].comms[c]);
  if (rank == 0) printf("threads: %d elements wrong\n", all_wrong);
  MPI_Finalize();
  return 0;
}
