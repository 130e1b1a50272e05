/* late_threads sub|together|number LIBRARY: opens the library after MPI_Init_thread, and calls its functions by two or more
 * threads. The first such call on a communicator of all ranks makes the communicator of the library's messages. Rank 1
 * is slow to make it (slow_group.c, to be preloaded).
 *
 * sub: rank 1 has begun an all-to-all on a communicator of ranks 0 and 1 before that, rank 0 begins it afterwards. Then
 * there are non-blocking ones on it.
 * together: each thread makes such a call on a communicator of its own at the same time.
 * number: while rank 0 makes it, its second thread sets up a communicator of rank 0 alone.
 * Prints "late_threads: right" and how often rank 0 has made that communicator, or what is wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, ROUNDS = 12, THREADS = 4, A_WHILE_US = 300000 };

static __typeof__(&MPI_Alltoall) own;
static __typeof__(&MPI_Ialltoall) start;
static int (*allocate)(MPI_Comm, MPI_Aint, void *);
static int rank, wrong_of[THREADS];
static MPI_Comm comms[THREADS];
static pthread_barrier_t together;
static atomic_int *made; /* of slow_group.c */

static void *needed(void *library, const char *name) {
  void *const found = dlsym(library, name);
  if (!found) fprintf(stderr, "late_threads: %s\n", dlerror()), MPI_Abort(MPI_COMM_WORLD, 2);
  return found;
}

static int exchange(MPI_Comm comm, int round, int starts) {
  int me, ranks, send[MOST], receive[MOST], wrong = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) send[i] = 1000 * round + 100 * me + i, receive[i] = -1;
  if (starts) {
    MPI_Request request;
    start(send, 1, MPI_INT, receive, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    own(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
  }
  for (int i = 0; i < ranks; ++i) wrong += receive[i] != 1000 * round + 100 * i + me;
  return wrong;
}

static void *exchange_all(void *number) {
  const long mine = (long)number;
  pthread_barrier_wait(&together);
  for (int round = 0; round < ROUNDS; ++round) wrong_of[mine] += exchange(comms[mine], round, 0);
  return NULL;
}

static void *exchange_on_sub(void *nothing) {
  for (int round = 0; round < 2 * ROUNDS; ++round) wrong_of[1] += exchange(comms[1], round, round >= ROUNDS);
  return nothing;
}

static void *allocate_alone(void *nothing) {
  void *memory = NULL;
  while (*made == 0) usleep(1);
  usleep(A_WHILE_US / 10);
  allocate(MPI_COMM_SELF, 4096, &memory);
  return nothing;
}

static void begin_on_sub(pthread_t *thread) {
  if (rank == 1) pthread_create(thread, NULL, exchange_on_sub, NULL), usleep(A_WHILE_US);
  wrong_of[0] += exchange(MPI_COMM_WORLD, 0, 0);
  if (rank == 0) pthread_create(thread, NULL, exchange_on_sub, NULL);
}

int main(int argc, char **argv) {
  int given, wrong = 0, all = 0;
  pthread_t threads[THREADS];
  if (argc != 3) return fprintf(stderr, "usage: late_threads sub|together|number LIBRARY\n"), 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (given < MPI_THREAD_MULTIPLE) return puts("late_threads: no MPI_THREAD_MULTIPLE"), MPI_Finalize();
  void *const library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
  if (!library) fprintf(stderr, "late_threads: %s\n", dlerror()), MPI_Abort(MPI_COMM_WORLD, 2);
  *(void **)&own = needed(library, "swapmeet_alltoall");
  *(void **)&start = needed(library, "MPI_Ialltoall");
  *(void **)&allocate = needed(library, "swapmeet_memory_allocate");
  made = needed(RTLD_DEFAULT, "groups_made");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_barrier_init(&together, NULL, THREADS);
  if (!strcmp(argv[1], "sub")) {
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &comms[1]);
    begin_on_sub(threads);
    if (rank < 2) pthread_join(threads[0], NULL);
  } else if (!strcmp(argv[1], "together")) {
    for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, exchange_all, (void *)i);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  } else {
    if (rank == 0) pthread_create(threads, NULL, allocate_alone, NULL);
    for (int round = 0; round < ROUNDS; ++round) wrong_of[0] += exchange(MPI_COMM_WORLD, round, 0);
    if (rank == 0) pthread_join(threads[0], NULL);
  }
  for (int i = 0; i < THREADS; ++i) wrong += wrong_of[i];
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("late_threads: %d blocks wrong\n", all);
  else if (rank == 0) printf("late_threads: right, made %d\n", *made);
  MPI_Finalize();
  return 0;
}
