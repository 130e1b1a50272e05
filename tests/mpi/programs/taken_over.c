/* Communicators of the same ranks, made, used and freed again and again, so that one takes over what another one has left. All blocks
 * are checked.
 *
 *   taken_over loop       one at a time; exchanges of several kinds and sizes
 *   taken_over several    two at a time, which the ranks free in different orders
 *   taken_over threads    three threads, each with communicators of its own
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, MOST_RANKS = 16, MOST_INTS = 3000, THREADS = 3 };

typedef struct {
  MPI_Comm from; /* of all ranks */
  int thread, calls, *send, *receive;
  pthread_t running;
} Work;

static int value(const Work *work, int source, int destination, int index) {
  return ((work->thread * 7919 + work->calls) * 31 + source) * 31 + destination * 3 + index;
}

static void fill(Work *work, MPI_Comm comm, int count) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  ++work->calls;
  for (int i = 0; i < ranks * count; ++i)
    work->send[i] = value(work, rank, i / count, i % count), work->receive[i] = -1;
}

static void check(const Work *work, MPI_Comm comm, int count) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks * count; ++i)
    if (work->receive[i] != value(work, i / count, rank, i % count)) {
      fprintf(stderr, "taken_over: call %d of %d elements is wrong\n", work->calls, count);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void exchange(Work *work, MPI_Comm comm, int count) {
  fill(work, comm, count);
  MPI_Alltoall(work->send, count, MPI_INT, work->receive, count, MPI_INT, comm);
  check(work, comm, count);
}

static void exchange_v(Work *work, MPI_Comm comm, int count) {
  int ranks, counts[MOST_RANKS], places[MOST_RANKS];
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i) counts[i] = count, places[i] = i * count;
  fill(work, comm, count);
  MPI_Alltoallv(work->send, counts, places, MPI_INT, work->receive, counts, places, MPI_INT, comm);
  check(work, comm, count);
}

static void exchange_i(Work *work, MPI_Comm comm, int count) {
  MPI_Request request;
  fill(work, comm, count);
  MPI_Ialltoall(work->send, count, MPI_INT, work->receive, count, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(work, comm, count);
}

/* A round begins with another kind of call or another size than the last one ended with, or with the same. */
static void use(Work *work, MPI_Comm comm, int round) {
  static const int counts[] = {2, 2, 1, 40, MOST_INTS};
  void (*const kinds[])(Work *, MPI_Comm, int) = {exchange, exchange, exchange_v, exchange_i};
  const int calls = round % 4 == 3 ? 1 : 2 + round % 11;
  for (int call = 0; call < calls; ++call) exchange(work, comm, counts[round % 5]);
  kinds[round % 4](work, comm, counts[(round + 1) % 5]);
  for (int call = 0; call < round % 3; ++call) exchange(work, comm, counts[call]);
}

static MPI_Comm made(const Work *work, int round, int groups) {
  int rank;
  MPI_Comm comm;
  MPI_Comm_rank(work->from, &rank);
  if (round % 5 == 4 && groups == 1) MPI_Comm_dup(work->from, &comm);
  else MPI_Comm_split(work->from, rank % groups, rank, &comm);
  return comm;
}

static void *loop(void *argument) {
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm comm = made(argument, round, 1 + round / 10 % 2);
    use(argument, comm, round);
    MPI_Comm_free(&comm);
  }
  return NULL;
}

static void several(Work *work, int rank) {
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm pair[] = {made(work, 0, 1), made(work, 0, 1)};
    for (int k = 0; k < 3; ++k) use(work, pair[k % 2], round + k);
    const int first = rank % 2 && round % 3 == 0;
    MPI_Comm_free(&pair[first]), MPI_Comm_free(&pair[1 - first]);
  }
}

static void threads(Work *works) {
  for (int k = 1; k < THREADS; ++k)
    if (pthread_create(&works[k].running, NULL, loop, &works[k]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  loop(&works[0]);
  for (int k = 1; k < THREADS; ++k) pthread_join(works[k].running, NULL);
}

int main(int argc, char **argv) {
  int rank, ranks, level;
  Work works[THREADS];
  MPI_Init_thread(&argc, &argv, strcmp(argv[argc - 1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int k = 0; k < THREADS; ++k) {
    const size_t bytes = sizeof(int) * MOST_INTS * (size_t)ranks;
    works[k] = (Work){.thread = k, .send = malloc(bytes), .receive = malloc(bytes)};
    if (!works[k].send || !works[k].receive) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &works[k].from);
  }
  if (strcmp(argv[argc - 1], "several") == 0) several(&works[0], rank);
  else if (strcmp(argv[argc - 1], "threads") == 0) threads(works);
  else loop(&works[0]);
  for (int k = 0; k < THREADS; ++k) {
    MPI_Comm_free(&works[k].from);
    free(works[k].send), free(works[k].receive);
  }
  if (rank == 0) printf("taken_over: right\n");
  MPI_Finalize();
  return 0;
}
