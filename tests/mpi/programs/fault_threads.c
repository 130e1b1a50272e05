/* Non-blocking and persistent all-to-alls that a thread advances as well, where one call that the library makes fails on
 * rank 1, its n-th (fault.c): "pthread_create", or a function of MPI. Half of them on a second communicator. Arguments: the
 * function, n, "begin" or "plan"; a fourth one leaves errors fatal. Prints a line for each rank, with a letter for each exchange, as fault_calls.c does:
 * ".", "e" or "W"; and "S" if signals are not as they were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCHANGES = 4, MOST_RANKS = 16 };

static char exchange(MPI_Comm comm, int planned, int rank, int ranks, int number) {
  int out[MOST_RANKS], in[MOST_RANKS], wrong = 0;
  for (int i = 0; i < ranks; ++i) out[i] = 1000 * number + 100 * rank + i, in[i] = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  int error;
  if (planned) {
    error = MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    if (!error) error = MPI_Start(&request);
  } else {
    error = MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
  }
  if (!error) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (planned && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  for (int i = 0; i < ranks; ++i) wrong += in[i] != 1000 * number + 100 * i + rank;
  return error ? 'e' : wrong ? 'W' : '.';
}

static int same(const sigset_t *one, const sigset_t *other) {
  for (int signal = 1; signal < SIGRTMAX; ++signal)
    if (sigismember(one, signal) != sigismember(other, signal)) return 0;
  return 1;
}

int main(int argc, char **argv) {
  const char *me = getenv("PMI_RANK");
  if (!me) me = getenv("OMPI_COMM_WORLD_RANK");
  int (*arm)(const char *, long, size_t);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
  if (!arm || !me || argc < 4) return 2;
  if (!strcmp(me, "1") && !arm(argv[1], atol(argv[2]), 0)) return 2;
  int level, rank, ranks;
  sigset_t before, after;
  char letters[EXCHANGES + 1] = "";
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (argc == 4) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int i = 0; i < EXCHANGES; ++i)
    letters[i] = exchange(i < EXCHANGES / 2 ? MPI_COMM_WORLD : other, !strcmp(argv[3], "plan"), rank, ranks, i);
  MPI_Comm_free(&other);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  printf("threads rank %d: %s%s\n", rank, letters, same(&before, &after) ? "" : "S");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
