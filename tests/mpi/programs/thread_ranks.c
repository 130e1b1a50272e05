/* All-to-alls among threads that are ranks (MPIX_Threadcomm of MPICH), three in each process. Each process prints "right",
 * "wrong", or "none" where the MPI has no such communicators. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 40200000
enum { THREADS = 3, CALLS = 40, MOST = 32 };

static MPI_Comm comm;
static int wrong;

static void *exchange(void *none) {
  int rank, ranks, sent[MOST] = {0}, received[MOST];
  MPIX_Threadcomm_start(comm);
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < CALLS; ++call) {
    for (int peer = 0; peer < ranks; ++peer) sent[peer] = 1000 * call + 10 * rank + peer, received[peer] = -1;
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm);
    for (int peer = 0; peer < ranks; ++peer)
      if (received[peer] != 1000 * call + 10 * peer + rank) __sync_fetch_and_add(&wrong, 1);
  }
  MPI_Barrier(comm);
  MPIX_Threadcomm_finish(comm);
  return none;
}

int main(int count, char **words) {
  int level;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE || MPIX_Threadcomm_init(MPI_COMM_WORLD, THREADS, &comm)) {
    puts("none");
  } else {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, exchange, NULL);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    MPIX_Threadcomm_free(&comm);
    puts(wrong ? "wrong" : "right");
  }
  MPI_Finalize();
  return 0;
}
#else
int main(void) {
  MPI_Init(NULL, NULL);
  puts("none");
  MPI_Finalize();
  return 0;
}
#endif
