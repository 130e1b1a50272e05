/* handler_stays: an MPI_Ialltoallv fails, whose error MPI_Wait returns; then the program sets an error handler of
 * MPI_COMM_WORLD, which stays, whatever the library had set there. "kept": it sets none, and the one of before is back
 * after some progress. "thread": as "kept", but the calls are made by a thread, which then ends. "again": the program sets
 * MPI_ERRORS_ARE_FATAL, and further exchanges fail before MPI has made any progress: their errors are returned, too. Prints
 * "right" for each rank, or what is wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16, ROUNDS = 10, LOOKS = 2000, LATE_US = 20000 };

static int calls;
static int again;

static void count(MPI_Comm *comm, int *error, ...) { (void)comm, (void)error, ++calls; }

static int is_there(MPI_Errhandler handler) {
  MPI_Errhandler present;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &present);
  const int same = present == handler;
  if (present != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&present);
  return same;
}

/* Of so many rounds the last ones are wrong: each rank receives less than the others send. Those before set up what is ours. */
static void exchange(MPI_Comm comm, int rank, int ranks, int rounds, int wrong) {
  static int out[4 * MOST], in[4 * MOST];
  int sent[MOST], received[MOST], places[MOST];
  for (int round = 0; round < rounds; ++round) {
    MPI_Request request;
    const int less = round >= rounds - wrong;
    for (int i = 0; i < ranks; ++i) sent[i] = 4, received[i] = less && i != rank ? 2 : 4, places[i] = 4 * i;
    if (round == 0) MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, comm);
    if (again && less && rank == 0) usleep(LATE_US); /* all data are there: the exchange is over as soon as it starts */
    MPI_Ialltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (again && less) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }
}

static void *exchange_in_thread(void *comm) {
  int rank, ranks;
  MPI_Comm_rank(*(MPI_Comm *)comm, &rank);
  MPI_Comm_size(*(MPI_Comm *)comm, &ranks);
  exchange(*(MPI_Comm *)comm, rank, ranks, ROUNDS, 1);
  return NULL;
}

int main(int argc, char **argv) {
  const int threaded = argc > 1 && strcmp(argv[1], "thread") == 0;
  again = argc > 1 && strcmp(argv[1], "again") == 0;
  const int sets = !threaded && !again && (argc < 2 || strcmp(argv[1], "kept") != 0);
  int rank, ranks, found, given;
  MPI_Comm comm;
  MPI_Errhandler first, second;
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_create_errhandler(count, &first);
  MPI_Comm_create_errhandler(count, &second);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, first);
  if (threaded) {
    pthread_t thread;
    pthread_create(&thread, NULL, exchange_in_thread, &comm);
    pthread_join(thread, NULL);
  } else {
    exchange(comm, rank, ranks, ROUNDS, again ? 4 : 1);
  }
  if (sets) MPI_Comm_set_errhandler(MPI_COMM_WORLD, second);
  for (int look = 0; look < LOOKS; ++look) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Barrier(comm); /* of Open MPI, a look for messages is not always progress */
  puts(is_there(again ? MPI_ERRORS_ARE_FATAL : sets ? second : first) ? "right" : "another handler is there");
  fflush(stdout);
  MPI_Errhandler_free(&first);
  MPI_Errhandler_free(&second);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
