/* Exchanges on the world, backwards, on every other rank, on a part in a shuffled order, and on the world again, each
 * block with data that say whence and whither. Argument: how often. Prints "orders: right". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static int value(int source, int destination, int index, int round) {
  return 100003 * source + 1009 * destination + 31 * index + round;
}

static void check(const int *received, int source, int rank, int count, int round, const char *what) {
  for (int k = 0; k < count; ++k)
    if (received[k] != value(source, rank, k, round)) {
      fprintf(stderr, "orders: rank %d: %s: wrong data from %d\n", rank, what, source);
      wrong = 1;
      return;
    }
}

static void exchange(MPI_Comm comm, int round, int n) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int *out = malloc(sizeof(int) * ranks * n), *in = malloc(sizeof(int) * ranks * n);
  int *sent = malloc(sizeof(int) * ranks), *received = malloc(sizeof(int) * ranks),
      *places = malloc(sizeof(int) * ranks);
  for (int i = 0; i < ranks; ++i) {
    for (int k = 0; k < n; ++k) out[i * n + k] = value(rank, i, k, round), in[i * n + k] = -1;
    sent[i] = (rank + 2 * i) % (n + 1);
    received[i] = (i + 2 * rank) % (n + 1);
    places[i] = i * n;
  }
  MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) check(in + i * n, i, rank, n, round, "Alltoall");
  for (int i = 0; i < ranks * n; ++i) in[i] = -1;
  MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, comm);
  for (int i = 0; i < ranks; ++i) {
    check(in + i * n, i, rank, received[i], round, "Alltoallv");
    for (int k = received[i]; k < n; ++k) wrong |= in[i * n + k] != -1;
  }
  free(out), free(in), free(sent), free(received), free(places);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Comm backwards, half, shuffled;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, (rank * 5 + 3) % 7, &shuffled);
  for (int round = 0; round < rounds; ++round) {
    exchange(MPI_COMM_WORLD, round, 3);
    exchange(backwards, round, 4);
    exchange(half, round, 5);
    if (shuffled != MPI_COMM_NULL) exchange(shuffled, round, 2000);
    exchange(MPI_COMM_WORLD, round, 1);
  }
  MPI_Comm_free(&backwards);
  MPI_Comm_free(&half);
  if (shuffled != MPI_COMM_NULL) MPI_Comm_free(&shuffled);
  int any = 0;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !any) printf("orders: right\n");
  MPI_Finalize();
  return any;
}
