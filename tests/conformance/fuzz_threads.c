/* Threads that each run a program at the same time, on a communicator of their own. */
#include <pthread.h>
#include <stdlib.h>

#include "fuzz.h"
#include "oracle.h"

typedef struct {
  Suite suite; /* with a communicator of its own */
  const Episode *episode;
  int number;
  MPI_Comm comm;
  long all_to_alls;
} Thread;

static void *run(void *argument) {
  Thread *const thread = argument;
  thread->all_to_alls = run_program(&thread->suite, thread->episode, thread->number, thread->comm);
  return NULL;
}

long run_threads(Suite *suite, const Episode *episode) {
  Thread *const threads = calloc((size_t)episode->threads, sizeof *threads);
  pthread_t *const handles = calloc((size_t)episode->threads, sizeof *handles);
  long all_to_alls = 0;
  suite_begin(suite, "seed=%llu/episode=%d/threads", (unsigned long long)episode->seed,
              episode->number); /* if it dies */
  for (int k = 0; k < episode->threads; ++k) {
    Thread *const thread = &threads[k];
    *thread = (Thread){.suite = *suite, .episode = episode, .number = k};
    thread->suite.passed = thread->suite.failed = thread->suite.skipped = 0;
    MPI_Comm_dup(suite->comm, &thread->suite.comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &thread->comm);
  }
  for (int k = 0; k < episode->threads; ++k)
    if (pthread_create(&handles[k], NULL, run, &threads[k]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int k = 0; k < episode->threads; ++k) {
    Thread *const thread = &threads[k];
    pthread_join(handles[k], NULL);
    all_to_alls += thread->all_to_alls;
    suite->passed += thread->suite.passed;
    suite->failed += thread->suite.failed;
    MPI_Comm_free(&thread->suite.comm);
  }
  free(threads);
  free(handles);
  return all_to_alls;
}
