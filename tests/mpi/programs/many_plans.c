/* many_plans PLANS COMMS [in-turn]: makes PLANS persistent all-to-alls, duplicates MPI_COMM_WORLD COMMS times, and starts each
 * request twice; all are there at once, or in turn: a request is freed before the next is made. Prints "many_plans: right" or
 * what is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 8, STARTS = 2 };

typedef struct {
  int send[MOST_RANKS], receive[MOST_RANKS];
} Blocks;

static int rank, ranks;

static int run(int plan, MPI_Request *request, Blocks *blocks) {
  int wrong = 0;
  for (int start = 0; start < STARTS; ++start) {
    const int first = 1000 * (STARTS * plan + start);
    for (int i = 0; i < ranks; ++i) blocks->send[i] = first + 10 * rank + i, blocks->receive[i] = -1;
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; ++i) wrong += blocks->receive[i] != first + 10 * i + rank;
  }
  return wrong;
}

int main(int argc, char **argv) {
  const int plans = argc > 1 ? atoi(argv[1]) : 1, comms = argc > 2 ? atoi(argv[2]) : 1;
  const int in_turn = argc > 3 && !strcmp(argv[3], "in-turn");
  int wrong = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Request *const requests = malloc((size_t)plans * sizeof *requests);
  Blocks *const blocks = malloc((size_t)plans * sizeof *blocks);
  MPI_Comm *const made = malloc((size_t)comms * sizeof *made);
  for (int i = 0; i < plans; ++i) {
    MPI_Alltoall_init(blocks[i].send, 1, MPI_INT, blocks[i].receive, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[i]);
    if (in_turn) wrong += run(i, &requests[i], &blocks[i]), MPI_Request_free(&requests[i]);
  }
  for (int i = 0; i < comms; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
  for (int i = 0; !in_turn && i < plans; ++i) wrong += run(i, &requests[i], &blocks[i]);
  for (int i = 0; !in_turn && i < plans; ++i) MPI_Request_free(&requests[i]);
  for (int i = 0; i < comms; ++i) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made[i]);
    wrong += sum != ranks * (ranks - 1) / 2;
    MPI_Comm_free(&made[i]);
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("many_plans: %d blocks wrong\n", all);
  else if (rank == 0) puts("many_plans: right");
  free(requests), free(blocks), free(made);
  MPI_Finalize();
  return 0;
}
