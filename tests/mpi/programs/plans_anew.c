/* plans_anew: in each of 40 rounds three MPI_Alltoall_init at a time on MPI_COMM_WORLD, started in another order on each rank, and
 * freed; in every second round only when the next ones are there. Prints "plans_anew: right" or what is wrong. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 40, PLANS = 3, MOST_RANKS = 16 };

static int send[2][PLANS][MOST_RANKS], receive[2][PLANS][MOST_RANKS];
static MPI_Request requests[2][PLANS];

static int value(int round, int plan, int from, int to) {
  return ((round * PLANS + plan) * MOST_RANKS + from) * MOST_RANKS + to;
}

static void end(MPI_Request *all) {
  for (int k = 0; k < PLANS; ++k)
    if (all[k] != MPI_REQUEST_NULL) MPI_Request_free(&all[k]);
}

int main(int argc, char **argv) {
  int rank, ranks, wrong = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int k = 0; k < 2 * PLANS; ++k) requests[k / PLANS][k % PLANS] = MPI_REQUEST_NULL;
  for (int round = 0; round < ROUNDS; ++round) {
    const int now = round % 4 / 2;
    MPI_Request *const mine = requests[now];
    end(mine);
    for (int k = 0; k < PLANS; ++k) {
      for (int i = 0; i < ranks; ++i) send[now][k][i] = value(round, k, rank, i), receive[now][k][i] = -1;
      MPI_Alltoall_init(send[now][k], 1, MPI_INT, receive[now][k], 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &mine[k]);
    }
    for (int k = 0; k < PLANS; ++k) MPI_Start(&mine[(k + rank + round) % PLANS]);
    MPI_Waitall(PLANS, mine, MPI_STATUSES_IGNORE);
    for (int k = 0; k < PLANS; ++k)
      for (int i = 0; i < ranks; ++i) wrong += receive[now][k][i] != value(round, k, i, rank);
    if (round % 2 == 0) end(mine);
  }
  end(requests[0]), end(requests[1]);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all > 0) printf("plans_anew: %d blocks wrong\n", all);
  else if (rank == 0) puts("plans_anew: right");
  MPI_Finalize();
  return 0;
}
