/* Two threads of each rank, each with a communicator of its own over the same ranks, exchange at the same time: blocks
 * of one byte to more than a channel holds, and some that are copied at once.
 *
 *   node_threads CALLS */
#include <pthread.h>

#include "node_blocks.h"

enum { THREADS = 2 };

typedef struct {
  MPI_Comm comm;
  int thread, calls, wrong;
} Work;

static void *run(void *argument) {
  Work *work = argument;
  int error;
  for (int call = 0; call < work->calls; ++call) {
    const int bytes = call % 50 == 0 ? 300001 : mixed_bytes(call % 7 + work->thread);
    work->wrong += exchanged(work->comm, 2 * call + work->thread, bytes, call % 3 == 0, &error) != 0;
  }
  return NULL;
}

int main(int argc, char **argv) {
  int provided, rank, wrong = 0, all_wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  must(argc == 2, "arguments");
  if (provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) puts("node: no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 0;
  }
  pthread_t threads[THREADS];
  Work work[THREADS];
  for (int k = 0; k < THREADS; ++k) {
    work[k] = (Work){MPI_COMM_NULL, k, atoi(argv[1]), 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &work[k].comm);
  }
  for (int k = 0; k < THREADS; ++k) pthread_create(&threads[k], NULL, run, &work[k]);
  for (int k = 0; k < THREADS; ++k) pthread_join(threads[k], NULL), wrong += work[k].wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int k = 0; k < THREADS; ++k) MPI_Comm_free(&work[k].comm);
  if (rank == 0) printf("node: %d calls wrong\n", all_wrong);
  MPI_Finalize();
  return 0;
}
