/* Programs that hang: hangs CASE [BYTES]. Two calls on MPI_COMM_WORLD come before it, but in "first". The job is to be
 * ended from outside.
 *   first     rank 1 does not come to the first call
 *   duplicate rank 1 does not come to the first call on a communicator of the same ranks, of an odd name
 *   skip      rank 1 does not come to the third call
 *   often     rank 1 does not come to call 171
 *   absent    only the first rank and the last come to it
 *   counts    rank 1 expects from rank 0 what that does not send, in MPI_Alltoallv
 *   orders    rank 0 calls on one communicator, the others on another
 *   firsts    the same, and these calls are the first on both
 *   inter     rank 1 does not come to a call on an intercommunicator, of rank 0 and the others
 *   stopped   rank 1 stops itself
 *   dies      rank 1 kills itself
 *   threads   all call on one communicator in a thread, for which rank 2 is late, and but rank 1 meanwhile on another
 *   busy      rank 1 comes to the third call late: the job ends
 *   started   rank 1 does not come to the third call, a non-blocking one
 *   fine      no rank is late: the job ends */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int bytes = 8, ranks, rank;
static char *send, *receive;

static void exchange(MPI_Comm comm) { MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm); }

static void unequal(void) {
  int *const numbers = calloc(3 * (size_t)ranks, sizeof(int));
  int *const sent = numbers, *const received = numbers + ranks, *const places = numbers + 2 * ranks;
  for (int i = 0; i < ranks; ++i) sent[i] = received[i] = bytes, places[i] = i * bytes;
  if (rank == 0) sent[1] = 0;
  MPI_Alltoallv(send, sent, places, MPI_BYTE, receive, received, places, MPI_BYTE, MPI_COMM_WORLD);
}

static MPI_Comm between_groups(void) {
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 25, &both);
  return both;
}

static void wait_for_ever(void) {
  while (1) sleep(1000);
}

static void *late_exchange(void *comm) {
  char *const buffers = calloc(2 * (size_t)ranks, (size_t)bytes);
  if (rank == 2) sleep(4);
  MPI_Alltoall(buffers, bytes, MPI_BYTE, buffers + ranks * bytes, bytes, MPI_BYTE, *(MPI_Comm *)comm);
  free(buffers);
  return NULL;
}

static void exchange_by_threads(MPI_Comm *one, MPI_Comm other) {
  pthread_t thread;
  exchange(*one), exchange(other);
  pthread_create(&thread, NULL, late_exchange, one);
  if (rank == 1) wait_for_ever();
  exchange(other);
  pthread_join(thread, NULL);
}

int main(int count, char **words) {
  int level;
  MPI_Init_thread(&count, &words, strcmp(words[1], "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
  const char *const how = words[1];
  if (count > 2) bytes = atoi(words[2]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  send = calloc((size_t)ranks, (size_t)bytes);
  receive = calloc((size_t)ranks, (size_t)bytes);
  MPI_Comm one, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(one, "pressure");
  MPI_Comm_set_name(other, "velocity");
  const int before = !strcmp(how, "first") ? 0 : !strcmp(how, "often") ? 170 : 2;
  for (int call = 0; call < before; ++call) exchange(MPI_COMM_WORLD);
  if (!strcmp(how, "counts")) unequal();
  if (!strcmp(how, "orders")) {
    exchange(one), exchange(other);
    exchange(rank == 0 ? one : other);
    exchange(rank == 0 ? other : one);
  }
  if (!strcmp(how, "threads")) exchange_by_threads(&one, other);
  if (!strcmp(how, "firsts")) exchange(rank == 0 ? one : other);
  if (!strcmp(how, "duplicate")) MPI_Comm_set_name(one, "\x1b[31m\xff\xc3\xa4\xc3");
  if (!strcmp(how, "duplicate") && rank != 1) exchange(one);
  const MPI_Comm both = !strcmp(how, "inter") ? between_groups() : MPI_COMM_NULL;
  if (!strcmp(how, "inter") && rank != 1) exchange(both);
  if (rank == 1 && (!strcmp(how, "inter") || !strcmp(how, "duplicate") || !strcmp(how, "skip") ||
                    !strcmp(how, "often") || !strcmp(how, "first") || !strcmp(how, "started")))
    wait_for_ever();
  if (rank > 0 && rank < ranks - 1 && !strcmp(how, "absent")) wait_for_ever();
  if (rank == 1 && !strcmp(how, "stopped")) raise(SIGSTOP);
  if (rank == 1 && !strcmp(how, "dies")) raise(SIGKILL);
  if (rank == 1 && !strcmp(how, "busy")) sleep(2);
  if (!strcmp(how, "started")) {
    MPI_Request request;
    MPI_Ialltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  exchange(MPI_COMM_WORLD);
  MPI_Comm_free(&one);
  MPI_Comm_free(&other);
  free(send);
  free(receive);
  return MPI_Finalize();
}
