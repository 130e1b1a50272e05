/* signals [threads]: the handler of the program runs in its own thread, on that thread's stack, and not while it has blocked the signal,
 * though communicators are set up meanwhile. Prints "signals: right". */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, STARTS = 6, BLOCK_INTS = 64, LATE_US = 50000, COMPUTING_US = 3000, FAR = 1 << 20 };

static volatile sig_atomic_t taken, elsewhere, beside;
static pid_t thread;
static uintptr_t stack;

static void handle(int signal) {
  (void)signal;
  const char here = 0;
  const uintptr_t address = (uintptr_t)&here;
  ++taken;
  elsewhere += (pid_t)syscall(SYS_gettid) != thread;
  beside += (address > stack ? address - stack : stack - address) > FAR;
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* A signal would end a sleep. */
static void compute(double us) {
  for (const double until = now_us() + us; now_us() < until;) {}
}

/* SIGABRT is one of those that an instruction may cause; here it comes from elsewhere. */
static const int signals[] = {SIGALRM, SIGABRT};
enum { SIGNALS = sizeof signals / sizeof *signals };

static void set_blocked(int blocked) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < SIGNALS; ++i) sigaddset(&set, signals[i]);
  pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* Exchanges on a new communicator, whose odd ranks come late: the others begin to set up, and wait. The number of wrong ints, and of
 * signals that were taken while they were blocked. */
static int round_of(int blocked) {
  int rank, ranks, wrong = 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int *const out = malloc(sizeof(int) * (size_t)ranks * BLOCK_INTS), *const in = malloc(sizeof(int) * (size_t)ranks *
                                                                                        BLOCK_INTS);
  for (int start = 0; start < STARTS; ++start) {
    MPI_Request request;
    for (int i = 0; i < ranks * BLOCK_INTS; ++i) out[i] = 100000 * start + 1000 * rank + i, in[i] = -1;
    if (rank % 2 == 1) compute(LATE_US);
    MPI_Ialltoall(out, BLOCK_INTS, MPI_INT, in, BLOCK_INTS, MPI_INT, comm, &request);
    if (blocked) set_blocked(1);
    const int before = taken;
    for (int i = 0; blocked && i < SIGNALS; ++i) kill(getpid(), signals[i]);
    compute(COMPUTING_US);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (blocked) wrong += taken != before, set_blocked(0), wrong += taken != before + SIGNALS;
    for (int i = 0; i < ranks * BLOCK_INTS; ++i)
      wrong += in[i] != 100000 * start + 1000 * (i / BLOCK_INTS) + rank * BLOCK_INTS + i % BLOCK_INTS;
  }
  free(out), free(in);
  MPI_Comm_free(&comm);
  return wrong;
}

int main(int argc, char **argv) {
  const char here = 0;
  int rank, wrong = 0, level;
  set_blocked(1); /* for threads of the MPI itself, which begin with this mask */
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
  set_blocked(0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  thread = (pid_t)syscall(SYS_gettid);
  stack = (uintptr_t)&here;
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  for (int i = 0; i < SIGNALS; ++i) sigaction(signals[i], &action, NULL);
  for (int i = 0; i < ROUNDS; ++i) wrong += round_of(1);
  const struct itimerval each_ms = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &each_ms, NULL);
  for (int i = 0; i < ROUNDS; ++i) wrong += round_of(0);
  setitimer(ITIMER_REAL, &never, NULL);
  int mine[] = {wrong, (int)elsewhere, (int)beside, taken <= ROUNDS * STARTS * SIGNALS}, all[4];
  MPI_Reduce(mine, all, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all[0] + all[1] + all[2] + all[3] == 0) puts("signals: right");
  else if (rank == 0)
    printf("%d wrong, %d in another thread, %d on another stack, %d ranks without\n", all[0], all[1], all[2], all[3]);
  MPI_Finalize();
  return 0;
}
