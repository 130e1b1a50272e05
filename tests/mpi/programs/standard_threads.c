/* What MPI says of threads, for all-to-alls: for LEVEL multiple (standard.h). */
#include <pthread.h>

#include "standard.h"

enum { THREADS = 3 };

static void in_threads(void *(*run)(void *), int number) {
  pthread_t threads[THREADS];
  for (long i = 0; i < number; ++i) pthread_create(&threads[i], NULL, run, (void *)i);
  for (int i = 0; i < number; ++i) pthread_join(threads[i], NULL);
}

static MPI_Comm own[THREADS];

/* 11.6.2: a call that blocks blocks its thread only. Thread 0 waits in an all-to-all, while thread 1 has what the last rank waits
 * for before it joins that. */
static int blocked_kind, blocked_form;
static void *blocked_thread(void *argument) {
  const long me = (long)argument;
  if (me == 0) {
    All x = all_open(own[0], blocked_kind, blocked_form, 0);
    all_once(&x, 1), all_once(&x, 2);
    all_close(&x);
  } else if (rank < ranks - 1) {
    int token = rank;
    MPI_Send(&token, 1, MPI_INT, ranks - 1, 2, own[1]);
    MPI_Recv(&token, 1, MPI_INT, ranks - 1, 2, own[1], MPI_STATUS_IGNORE);
    expect(token == ranks, "the answer is %d", token);
  }
  return NULL;
}

static void blocked(void) {
  for (blocked_form = 0; blocked_form < (HAS_PERSISTENT ? FORMS : 2); ++blocked_form)
    for (blocked_kind = 0; blocked_kind < KINDS; ++blocked_kind) {
      for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
      if (rank == ranks - 1) {
        usleep(3000);
        for (int p = 0; p < ranks - 1; ++p) {
          int token = -1;
          MPI_Recv(&token, 1, MPI_INT, p, 2, own[1], MPI_STATUS_IGNORE);
          expect(token == p, "the message is %d", token);
          token = ranks;
          MPI_Send(&token, 1, MPI_INT, p, 2, own[1]);
        }
        in_threads(blocked_thread, 1);
      } else {
        in_threads(blocked_thread, 2);
      }
      for (int i = 0; i < 2; ++i) MPI_Comm_free(&own[i]);
    }
}

/* 11.6.2: threads call collectives at the same time, on communicators of their own that they make and free. */
static void *side_thread(void *argument) {
  const long me = (long)argument;
  for (int round = 0; round < 8; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(own[me], &comm);
    FOR_EACH_ALL(kind, form, in_place) {
      if (form == PERSISTENT && round % 4) continue;
      All x = all_open(comm, kind, form, in_place);
      all_once(&x, round);
      all_close(&x);
    }
    MPI_Comm_free(&comm);
  }
  return NULL;
}

static void side_by_side(void) {
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  in_threads(side_thread, THREADS);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&own[i]);
}

/* 11.6.1: a request that one thread has started may be completed by another, and a communicator freed by a third. */
enum { HANDED = 12 };
static All handed[HANDED];

static void *start_all(void *argument) {
  const int round = (int)(long)argument;
  for (int i = 0; i < HANDED; ++i) all_fill(&handed[i], round), all_begin(&handed[i]);
  return NULL;
}

static void *complete_all(void *argument) {
  const int first = (int)(long)argument;
  for (int i = first; i < HANDED; i += THREADS) {
    MPI_Wait(&handed[i].request, MPI_STATUS_IGNORE);
    all_check(&handed[i], 0);
  }
  return NULL;
}

static void *free_all(void *argument) {
  (void)argument;
  for (int i = 0; i < HANDED; ++i) all_close(&handed[i]);
  MPI_Comm_free(&own[0]);
  return NULL;
}

static void handed_over(void) {
  for (int turn = 0; turn < 4; ++turn) {
    MPI_Comm_dup(MPI_COMM_WORLD, &own[0]);
    for (int i = 0; i < HANDED; ++i)
      handed[i] = all_open(own[0], i % KINDS, HAS_PERSISTENT && turn % 2 ? PERSISTENT : STARTED, i % 2);
    in_threads(start_all, 1);
    in_threads(complete_all, THREADS);
    in_threads(free_all, 1);
  }
}

/* 11.6.1: the threads of a rank may use one communicator in turn, whichever of them calls first elsewhere. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static int turn_round;

static void *turn_thread(void *argument) {
  (void)argument;
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&turn_lock);
    const int round = turn_round++;
    All x = all_open(own[0], round % KINDS, round / KINDS % 2, round / 6 % 2);
    all_once(&x, round);
    all_close(&x);
    pthread_mutex_unlock(&turn_lock);
    if ((rank + i) % 3 == 0) sched_yield();
  }
  return NULL;
}

static void in_turn(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &own[0]);
  turn_round = 0;
  in_threads(turn_thread, THREADS);
  MPI_Comm_free(&own[0]);
}

/* 11.6.2: two threads of each rank wait for all-to-alls of two communicators, which ranks begin in opposite orders. */
static pthread_barrier_t late;
static void *opposite_thread(void *argument) {
  const long me = (long)argument;
  for (int round = 0; round < 20; ++round) {
    All x = all_open(own[me], round % KINDS, BLOCKING, 0);
    if ((rank + me + round) % 2) usleep(100);
    all_once(&x, round);
    all_close(&x);
    pthread_barrier_wait(&late);
  }
  return NULL;
}

static void opposite(void) {
  pthread_barrier_init(&late, NULL, 2);
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  in_threads(opposite_thread, 2);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&own[i]);
  pthread_barrier_destroy(&late);
}

/* 11.6.2: one thread waits for started exchanges of one communicator, in MPI_Waitany, while another starts more of another. */
static void *waiter(void *argument) {
  const long me = (long)argument;
  for (int round = 0; round < 10; ++round) {
    All x[6];
    MPI_Request requests[6];
    int index;
    for (int i = 0; i < 6; ++i) {
      x[i] = all_open(own[me], i % KINDS, STARTED, i % 2);
      all_fill(&x[i], round), all_begin(&x[i]), requests[i] = x[i].request;
    }
    if (me == 0)
      for (int i = 0; i < 6; ++i) MPI_Waitany(6, requests, &index, MPI_STATUS_IGNORE);
    else MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 6; ++i) x[i].request = MPI_REQUEST_NULL, all_check(&x[i], round), all_close(&x[i]);
  }
  return NULL;
}

static void waiting(void) {
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  in_threads(waiter, THREADS);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&own[i]);
}

static const Case cases[] = {
    {"blocked", 2, blocked}, {"side-by-side", 1, side_by_side}, {"handed-over", 1, handed_over},
    {"in-turn", 1, in_turn}, {"opposite", 1, opposite},         {"waiting", 1, waiting},
};

int main(int argc, char **argv) { return run_cases(cases, sizeof cases / sizeof *cases, argc, argv); }
