/* made_meanwhile idup|typed|planned|threads|race [US]: an all-to-all on a communicator while the application makes others,
 * which waits for a rank that waits in the all-to-all. Three ranks.
 *
 * idup: rank 0 has begun an MPI_Comm_idup, the others begin it after the all-to-all.
 * typed: the same, but three blocking all-to-alls of a derived type, on a duplicate.
 * planned: as typed, but persistent ones, each made anew.
 * race: as idup, but rank 0 begins it in another thread, US microseconds after the all-to-all.
 * threads: rank 0 duplicates `old` in its first thread, for which rank 1 comes after the all-to-all on `pair` with rank 2; and
 * then, in its second one, `other`, with the second one of rank 2. Afterwards there are more all-to-alls on `pair`.
 * Prints "made_meanwhile: right" or what is wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8, AFTERWARDS = 20 };

static MPI_Comm other;
static useconds_t duplicate_later = 0;

static int exchange(MPI_Comm comm) {
  int rank, ranks, send[MOST], receive[MOST], wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) send[i] = 100 * rank + i, receive[i] = -1;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) wrong += receive[i] != 100 * i + rank;
  return wrong;
}

static void call_typed(int persistent, const int *send, int *receive, MPI_Datatype type, MPI_Comm comm) {
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
  if (persistent) {
    MPI_Request request;
    MPI_Alltoall_init(send, 1, type, receive, 1, type, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return;
  }
#else
  (void)persistent;
#endif
  MPI_Alltoall(send, 1, type, receive, 1, type, comm);
}

/* Of integers with gaps behind them. */
static int exchange_typed(MPI_Comm comm, int persistent) {
  enum { APART = 3, CALLS = 3, GAP = -7 };
  int rank, ranks, send[APART * MOST], receive[APART * MOST], wrong = 0;
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, APART * (MPI_Aint)sizeof(int), &type);
  MPI_Type_commit(&type);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < CALLS; ++call) {
    for (int i = 0; i < APART * ranks; ++i) send[i] = receive[i] = GAP;
    for (int i = 0; i < ranks; ++i) send[APART * i] = 1000 * call + 100 * rank + i;
    call_typed(persistent, send, receive, type, comm);
    for (int i = 0; i < APART * ranks; ++i)
      wrong += receive[i] != (i % APART == 0 ? 1000 * call + 100 * (i / APART) + rank : GAP);
  }
  MPI_Type_free(&type);
  return wrong;
}

static int during_idup(int rank, const char *how) {
  const int planned = strcmp(how, "planned") == 0, typed = planned || strcmp(how, "typed") == 0;
  MPI_Comm comm, duplicate;
  MPI_Request request;
  if (typed) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
  if (rank == 0) MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request);
  int wrong = typed ? exchange_typed(comm, planned) : exchange(comm);
  if (rank != 0) MPI_Comm_idup(MPI_COMM_WORLD, &duplicate, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += exchange(duplicate);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&comm);
  return wrong;
}

typedef struct {
  useconds_t later;
  MPI_Comm made;
} Begun;

static void *begin_idup(void *argument) {
  Begun *const begun = argument;
  MPI_Request request;
  const double begin = MPI_Wtime();
  while (1e6 * (MPI_Wtime() - begin) < begun->later) continue;
  MPI_Comm_idup(MPI_COMM_WORLD, &begun->made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return NULL;
}

static int during_race(int rank, useconds_t later) {
  Begun begun = {rank == 0 ? later : 0, MPI_COMM_NULL};
  pthread_t thread;
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) pthread_create(&thread, NULL, begin_idup, &begun);
  int wrong = exchange(comm);
  if (rank == 0) pthread_join(thread, NULL);
  else begin_idup(&begun);
  wrong += exchange(begun.made);
  MPI_Comm_free(&begun.made);
  MPI_Comm_free(&comm);
  return wrong;
}

static void duplicate(MPI_Comm comm) {
  MPI_Comm made;
  MPI_Comm_dup(comm, &made);
  MPI_Comm_free(&made);
}

static void *duplicate_other(void *nothing) {
  usleep(duplicate_later);
  duplicate(other);
  return nothing;
}

static int during_threads(int rank) {
  const useconds_t while_others_begin = 300000;
  MPI_Comm old, pair;
  pthread_t thread;
  int wrong = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &old);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1, 0, &other);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &pair);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    duplicate_later = while_others_begin;
    pthread_create(&thread, NULL, duplicate_other, NULL);
    duplicate(old);
  } else if (rank == 1) {
    usleep(2 * while_others_begin);
    wrong += exchange(pair);
    duplicate(old);
  } else {
    pthread_create(&thread, NULL, duplicate_other, NULL);
    usleep(2 * while_others_begin);
    wrong += exchange(pair);
  }
  if (rank != 1) pthread_join(thread, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0)
    for (int i = 0; i < AFTERWARDS; ++i) wrong += exchange(pair);
  MPI_Comm_free(&old), MPI_Comm_free(&other), MPI_Comm_free(&pair);
  return wrong;
}

int main(int argc, char **argv) {
  int given, rank, wrong, all = 0;
  const char *const how = argc > 1 ? argv[1] : "idup";
  const int race = strcmp(how, "race") == 0, threads = race || strcmp(how, "threads") == 0;
  const useconds_t later = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (threads && given < MPI_THREAD_MULTIPLE) return puts("made_meanwhile: no MPI_THREAD_MULTIPLE"), MPI_Finalize();
  wrong = race ? during_race(rank, later) : threads ? during_threads(rank) : during_idup(rank, how);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("made_meanwhile: %d blocks wrong\n", all);
  else if (rank == 0) puts("made_meanwhile: right");
  MPI_Finalize();
  return 0;
}
