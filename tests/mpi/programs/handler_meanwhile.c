/* handler_meanwhile: while the first all-to-all on a communicator waits for rank 1, another thread finds the error
 * handler that was there, and sets another, which is to stay. Once a handler of the program, once MPI_ERRORS_RETURN.
 * Prints "handler_meanwhile: right" or what is wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8, WAITING_US = 300000 };

static MPI_Comm comm;

static void ignore(MPI_Comm *on, int *error, ...) { (void)on, (void)error; }

static void *exchange(void *wrong) {
  int rank, ranks, send[MOST], receive[MOST];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) send[i] = 100 * rank + i, receive[i] = -1;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) *(int *)wrong += receive[i] != 100 * i + rank;
  return NULL;
}

static int is_there(MPI_Errhandler handler) {
  MPI_Errhandler present;
  MPI_Comm_get_errhandler(comm, &present);
  const int same = present == handler;
  MPI_Errhandler_free(&present);
  return same;
}

/* On a rank that waits. */
static int set_meanwhile(int to_return) {
  int wrong = 0;
  pthread_t thread;
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (!to_return) MPI_Comm_create_errhandler(ignore, &handler);
  pthread_create(&thread, NULL, exchange, &wrong);
  usleep(WAITING_US);
  if (!is_there(MPI_ERRORS_ARE_FATAL)) fprintf(stderr, "handler_meanwhile: another handler is there\n"), ++wrong;
  MPI_Comm_set_errhandler(comm, handler);
  pthread_join(thread, NULL);
  if (!is_there(handler)) fprintf(stderr, "handler_meanwhile: the handler is gone\n"), ++wrong;
  exchange(&wrong);
  if (!is_there(handler)) fprintf(stderr, "handler_meanwhile: the handler is gone at the next\n"), ++wrong;
  if (!to_return) MPI_Errhandler_free(&handler);
  return wrong;
}

static int come_late(void) {
  int wrong = 0;
  usleep(2 * WAITING_US);
  exchange(&wrong);
  exchange(&wrong);
  return wrong + !is_there(MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
  int given, rank, wrong = 0, all = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (given < MPI_THREAD_MULTIPLE) return puts("handler_meanwhile: no MPI_THREAD_MULTIPLE"), MPI_Finalize();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int to_return = 0; to_return <= 1; ++to_return) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += rank == 1 ? come_late() : set_meanwhile(to_return);
    MPI_Comm_free(&comm);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("handler_meanwhile: %d wrong\n", all);
  else if (rank == 0) puts("handler_meanwhile: right");
  MPI_Finalize();
  return 0;
}
