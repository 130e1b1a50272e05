/* How long a program takes that makes a communicator, calls MPI_Alltoall on it some times, and frees it, again and again.
 *
 *   setup HOW LEVEL SAMPLES
 *
 * HOW: split, dup, create (MPI_Comm_create_group), or threads, which splits in three threads at the same time. LEVEL: single or
 * multiple. Rank 0 prints a line for each number of calls and size of blocks: "CALLS BYTES US...", SAMPLES times in microseconds for
 * a communicator, each the mean of some tens of them, by the slowest rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16384, THREADS = 3 };

typedef struct {
  MPI_Comm from; /* of all ranks */
  int calls, bytes, times;
  char *send, *receive;
  pthread_t thread;
} Loop;

static const char *how;

static MPI_Comm made(MPI_Comm from) {
  MPI_Comm comm;
  int rank;
  MPI_Comm_rank(from, &rank);
  if (strcmp(how, "dup") == 0) {
    MPI_Comm_dup(from, &comm);
  } else if (strcmp(how, "create") == 0) {
    MPI_Group all;
    MPI_Comm_group(from, &all);
    MPI_Comm_create_group(from, all, 0, &comm);
    MPI_Group_free(&all);
  } else {
    MPI_Comm_split(from, 0, rank, &comm);
  }
  return comm;
}

static void *run(void *argument) {
  Loop *const loop = argument;
  for (int time = 0; time < loop->times; ++time) {
    MPI_Comm comm = made(loop->from);
    for (int call = 0; call < loop->calls; ++call)
      MPI_Alltoall(loop->send, loop->bytes, MPI_BYTE, loop->receive, loop->bytes, MPI_BYTE, comm);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

/* Microseconds for a communicator, by the slowest rank. */
static double sample(Loop *loops, int count) {
  double began, took, longest;
  MPI_Barrier(MPI_COMM_WORLD);
  began = MPI_Wtime();
  for (int k = 1; k < count; ++k)
    if (pthread_create(&loops[k].thread, NULL, run, &loops[k]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  run(&loops[0]);
  for (int k = 1; k < count; ++k) pthread_join(loops[k].thread, NULL);
  took = MPI_Wtime() - began;
  MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return 1e6 * longest / (count * loops[0].times);
}

int main(int argc, char **argv) {
  static const int calls[] = {1, 8, 64}, bytes[] = {8, MOST_BYTES};
  Loop loops[THREADS];
  int rank, ranks, level;
  if (argc != 4) return fprintf(stderr, "usage: setup split|dup|create|threads single|multiple SAMPLES\n"), 2;
  how = argv[1];
  const int count = strcmp(how, "threads") == 0 ? THREADS : 1, samples = atoi(argv[3]);
  MPI_Init_thread(&argc, &argv, strcmp(argv[2], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int k = 0; k < count; ++k) {
    MPI_Comm_dup(MPI_COMM_WORLD, &loops[k].from);
    loops[k].send = calloc((size_t)ranks, MOST_BYTES), loops[k].receive = calloc((size_t)ranks, MOST_BYTES);
    if (!loops[k].send || !loops[k].receive) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i)
    for (size_t j = 0; j < sizeof bytes / sizeof bytes[0]; ++j) {
      for (int k = 0; k < count; ++k)
        loops[k].calls = calls[i], loops[k].bytes = bytes[j], loops[k].times = calls[i] == 64 ? 30 : 100;
      sample(loops, count); /* not counted */
      if (rank == 0) printf("%d %d", calls[i], bytes[j]);
      for (int one = 0; one < samples; ++one) {
        const double us = sample(loops, count);
        if (rank == 0) printf(" %.2f", us);
      }
      if (rank == 0) puts("");
    }
  for (int k = 0; k < count; ++k) {
    MPI_Comm_free(&loops[k].from);
    free(loops[k].send), free(loops[k].receive);
  }
  return MPI_Finalize();
}
