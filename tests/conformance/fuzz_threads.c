/* Threads that exchange at the same time, each on a communicator of its own, which it makes anew now and then. */
#include <pthread.h>

#include "fuzz.h"
#include "oracle.h"

enum { THREADS = 3, EXCHANGES = 4 }; /* of each rank; of each thread */

typedef struct {
  Suite suite; /* with a communicator of its own */
  Program program;
  uint64_t seed;
  int round, number;
} Thread;

static void make_anew(Program *program) {
  MPI_Comm *const comm = &program->slots[0].comm;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(*comm, &made);
  MPI_Comm_free(comm);
  *comm = made;
}

static void *exchange(void *argument) {
  Thread *thread = argument;
  Program *const program = &thread->program;
  for (int k = 0; k < EXCHANGES; ++k) {
    suite_begin(&thread->suite, "seed=%llu/round=%d/thread=%d/exchange=%d/", (unsigned long long)thread->seed,
                thread->round, thread->number, k);
    if (draw_below(&program->random, 3) == 0) make_anew(program);
    if (draw_below(&program->random, 2) == 0) exchange_several(program);
    else exchange_one(program);
    suite_end(&thread->suite);
  }
  return NULL;
}

void exchange_by_threads(Suite *suite, uint64_t seed, int round, long *all_to_alls) {
  Thread threads[THREADS];
  pthread_t handles[THREADS];
  for (int k = 0; k < THREADS; ++k) {
    Thread *thread = &threads[k];
    *thread = (Thread){.suite = *suite, .seed = seed, .round = round, .number = k};
    thread->suite.passed = thread->suite.failed = thread->suite.skipped = 0;
    thread->program = (Program){.suite = &thread->suite, .soaks = true};
    thread->program.random.seed = oracle_mix(seed) + oracle_key((uint64_t)round, k, 0);
    thread->program.slots[0].used = true;
    MPI_Comm_dup(suite->comm, &thread->suite.comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &thread->program.slots[0].comm);
  }
  for (int k = 0; k < THREADS; ++k)
    if (pthread_create(&handles[k], NULL, exchange, &threads[k]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int k = 0; k < THREADS; ++k) {
    Thread *thread = &threads[k];
    pthread_join(handles[k], NULL);
    *all_to_alls += thread->program.all_to_alls;
    suite->passed += thread->suite.passed;
    suite->failed += thread->suite.failed;
    MPI_Comm_free(&thread->suite.comm);
    MPI_Comm_free(&thread->program.slots[0].comm);
  }
}
