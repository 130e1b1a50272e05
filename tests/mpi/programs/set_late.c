/* set_late: swapmeet_set_algorithm() between the end of non-blocking all-to-alls and the program's MPI_Wait for them, which some ranks
 * call before it and some after. It prints "set_late: right". */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int me, ranks, wrong;

static void start(int *sent, int *received, int round, MPI_Request *request) {
  for (int i = 0; i < ranks; ++i) sent[i] = 1000 * round + 10 * me + i, received[i] = -1;
  MPI_Ialltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD, request);
}

static void end(const int *received, int round, MPI_Request *request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; ++i) wrong += received[i] != 1000 * round + 10 * i + me;
}

int main(int argc, char **argv) {
  static const char *const specs[] = {"pairwise", "shared-memory", "tra(r=2)", "native", "spread-out"};
  int all = 0, round = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int (*set)(MPI_Comm, const char *) = (int (*)(MPI_Comm, const char *))dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  int *const sent = malloc((size_t)ranks * sizeof *sent), *const received = malloc((size_t)ranks * sizeof *received);
  for (int turn = 0; turn < 40; ++turn) {
    MPI_Request request;
    for (int i = 0; i < 3; ++i) {
      start(sent, received, ++round, &request);
      end(received, round, &request);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    start(sent, received, ++round, &request);
    if (me % 2) end(received, round, &request);
    if (set && set(MPI_COMM_WORLD, specs[turn % 5])) MPI_Abort(MPI_COMM_WORLD, 3);
    if (me % 2 == 0) end(received, round, &request);
    for (int i = 0; i < 3; ++i) {
      start(sent, received, ++round, &request);
      end(received, round, &request);
    }
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf(all ? "set_late: %d blocks are wrong\n" : "set_late: right\n", all);
  MPI_Finalize();
  return 0;
}
