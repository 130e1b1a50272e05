/* progress MODE: legal programs around MPI_Ialltoall. MODE:
 *   elsewhere  a rank waits for an exchange while the others are in another call that waits for that rank
 *   opposite   ranks wait for two exchanges in opposite orders
 *   released   a request is freed before it is complete
 *   status     what MPI_Wait says of a request
 *   many       100,000 requests, one after the other
 *   threads    four threads, each with a communicator
 *   crossed    a rank starts an exchange and then makes a communicator, the others do it the other way round
 *   between    blocking and non-blocking exchanges in turn, of sizes that nobody has met before
 *   overtaken  a rank starts an exchange late; the others make a blocking one meanwhile, which is like those before it
 *   after      non-blocking exchanges between blocking ones that are all alike
 *   apart      exchanges of unequal blocks, in place and then not: one rank starts the second once the first is over, the others
 *              at once
 * It prints "progress: right", and in `status` what it was told. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAYS = 7, THREADS = 4, BLOCK = 3 };

static int rank, ranks;
static _Atomic int wrong; /* elements, in all threads */

static void fill(int *out, int *in, int block, int round) {
  for (int i = 0; i < ranks * block; ++i) out[i] = round * 1000 + rank * ranks + i / block, in[i] = -1;
}

static void check(const int *in, int block, int round) {
  for (int i = 0; i < ranks * block; ++i) wrong += in[i] != round * 1000 + i / block * ranks + rank;
}

static void meet(int way, MPI_Comm comm) {
  int token = 0;
  MPI_Comm made;
  MPI_Win window;
  MPI_File file;
  switch (way) {
    case 0: MPI_Barrier(comm); break;
    case 1: /* in MPI_Recv */
      if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
      if (rank + 1 < ranks) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, comm);
      break;
    case 2: /* in MPI_Probe */
      if (rank > 0) MPI_Probe(rank - 1, 0, comm, MPI_STATUS_IGNORE);
      if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
      if (rank + 1 < ranks) MPI_Send(&token, 1, MPI_INT, rank + 1, 0, comm);
      break;
    case 3: MPI_Comm_dup(comm, &made), MPI_Comm_free(&made); break;
    case 4:
      MPI_Win_create(&token, sizeof token, 1, MPI_INFO_NULL, comm, &window);
      MPI_Win_fence(0, window), MPI_Win_fence(0, window);
      MPI_Win_free(&window);
      break;
    case 5: { /* a blocking all-to-all of another communicator */
      int *out = malloc((size_t)ranks * sizeof *out), *in = malloc((size_t)ranks * sizeof *in);
      fill(out, in, 1, way), MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm), check(in, 1, way);
      free(out), free(in);
      break;
    }
    case 6:
      MPI_File_open(comm, "/tmp/swapmeet-progress", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                    MPI_INFO_NULL, &file);
      MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
      MPI_File_close(&file);
      break;
    default: break;
  }
}

static void elsewhere(void) {
  int *out = malloc((size_t)ranks * BLOCK * sizeof *out), *in = malloc((size_t)ranks * BLOCK * sizeof *in);
  for (int way = 0; way < 2 * WAYS; ++way) { /* first on a new communicator, then on one that is known */
    static MPI_Comm comm;
    MPI_Request request;
    if (way % 2 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    fill(out, in, BLOCK, way);
    MPI_Ialltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm, &request);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    meet(way / 2, MPI_COMM_WORLD);
    if (rank > 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(in, BLOCK, way);
    if (way % 2) MPI_Comm_free(&comm);
  }
  free(out), free(in);
}

/* A communicator of its own, on which ranks have exchanged. */
static MPI_Comm used(void) {
  int *out = malloc((size_t)ranks * sizeof *out), *in = malloc((size_t)ranks * sizeof *in);
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
  fill(out, in, 1, 0), MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm), check(in, 1, 0);
  free(out), free(in);
  return comm;
}

static void opposite(void) {
  const int block = 20000;
  int *out[2], *in[2];
  /* Both have what others had before them. */
  MPI_Comm gone = used(), comms[2] = {used(), MPI_COMM_NULL};
  MPI_Comm_free(&gone);
  MPI_Comm again = used();
  comms[1] = used();
  for (int i = 0; i < 2; ++i)
    out[i] = malloc((size_t)ranks * block * sizeof(int)), in[i] = malloc((size_t)ranks * block * sizeof(int));
  for (int round = 0; round < 12; ++round) { /* the first ones are the host MPI's */
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i) {
      const int of = (i + rank) % 2; /* they are started in opposite orders, too, on communicators of their own */
      fill(out[of], in[of], block, 2 * round + of);
      MPI_Ialltoall(out[of], block, MPI_INT, in[of], block, MPI_INT, comms[of], &requests[of]);
    }
    MPI_Wait(&requests[(rank + round) % 2], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[(rank + round + 1) % 2], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) check(in[i], block, 2 * round + i);
  }
  for (int i = 0; i < 2; ++i) free(out[i]), free(in[i]), MPI_Comm_free(&comms[i]);
  MPI_Comm_free(&again);
}

static void released(void) {
  int *out = malloc((size_t)ranks * BLOCK * sizeof *out), *in = malloc((size_t)ranks * BLOCK * sizeof *in);
  for (int round = 0; round < 20; ++round) {
    MPI_Request request;
    MPI_Status status;
    if (round == 1) MPI_Barrier(MPI_COMM_WORLD); /* from now on it is ours */
    int done = 0;
    fill(out, in, BLOCK, round);
    MPI_Ialltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD, &request);
    while (!done) MPI_Request_get_status(request, &done, &status);
    check(in, BLOCK, round);
    MPI_Request_free(&request);
    if (round == 0) continue;
    fill(out, in, BLOCK, round);
    MPI_Ialltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    for (int i = 0; i < ranks * BLOCK; ++i)
      while (((volatile int *)in)[i] == -1) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &done, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    check(in, BLOCK, round);
  }
  free(out), free(in);
}

static void status_of_request(void) {
  int *out = malloc((size_t)ranks * sizeof *out), *in = malloc((size_t)ranks * sizeof *in), count = -1, cancelled = -1;
  MPI_Request request;
  MPI_Status status;
  fill(out, in, 1, 0);
  MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_BYTE, &count), MPI_Test_cancelled(&status, &cancelled);
  if (rank == 0) printf("count %d, cancelled %d, null %d\n", count, cancelled, request == MPI_REQUEST_NULL);
  free(out), free(in);
}

static long resident_kib(void) {
  long pages = 0, all = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
  if (file) fclose(file);
  return pages * 4;
}

static void many(void) {
  int *out = malloc((size_t)ranks * sizeof *out), *in = malloc((size_t)ranks * sizeof *in);
  long before = 0;
  for (int round = 0; round < 100000; ++round) {
    MPI_Request request;
    if (round == 1000) before = resident_kib();
    fill(out, in, 1, round);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(in, 1, round);
  }
  if (resident_kib() - before > 2048) printf("memory has grown by %ld KiB\n", resident_kib() - before), ++wrong;
  free(out), free(in);
}

static MPI_Comm comm_of[THREADS];

static void *exchange_on(void *which) {
  MPI_Comm comm = comm_of[*(int *)which];
  const int block = *(int *)which == 0 ? 4000 : BLOCK;
  int *out = malloc((size_t)ranks * (size_t)block * sizeof *out),
      *in = malloc((size_t)ranks * (size_t)block * sizeof *in);
  for (int round = 0; round < 200; ++round) {
    MPI_Request request;
    fill(out, in, block, round);
    MPI_Ialltoall(out, block, MPI_INT, in, block, MPI_INT, comm, &request);
    for (int done = 0; round % 2 && !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (round % 2 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(in, block, round);
  }
  free(out), free(in);
  return NULL;
}

static void threads(void) {
  pthread_t all[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[i]);
    int *out = malloc((size_t)ranks * sizeof *out), *in = malloc((size_t)ranks * sizeof *in);
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm_of[i]); /* without it MPICH's own would serve them */
    free(out), free(in);
  }
  for (int i = 0; i < THREADS; ++i) numbers[i] = i, pthread_create(&all[i], NULL, exchange_on, &numbers[i]);
  for (int i = 0; i < THREADS; ++i) pthread_join(all[i], NULL);
  for (int i = 0; i < THREADS; ++i) MPI_Comm_free(&comm_of[i]);
}

static void between(void) {
  for (int round = 0; round < 40; ++round) {
    const int block = 1 + round * round;
    MPI_Request request;
    int *out = malloc((size_t)ranks * (size_t)block * sizeof *out),
        *in = malloc((size_t)ranks * (size_t)block * sizeof *in);
    int *other = malloc((size_t)ranks * (size_t)block * sizeof *other);
    fill(out, in, block, round);
    MPI_Ialltoall(out, block, MPI_INT, in, block, MPI_INT, MPI_COMM_WORLD, &request);
    if (round % 3) MPI_Alltoall(out, block, MPI_INT, other, block, MPI_INT, MPI_COMM_WORLD), check(other, block, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(in, block, round);
    free(out), free(in), free(other);
  }
}

static void overtaken(void) {
  int out[64], started[64], in[64], like[64];
  for (int round = 0; round < 12; ++round) {
    MPI_Request request;
    for (int before = 0; before < 3; ++before) { /* what repeats may be served without a look at anything else */
      fill(like, in, 1, 100 + before);
      MPI_Alltoall(like, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), check(in, 1, 100 + before);
    }
    fill(out, started, 1, round), fill(like, in, 1, 50 + round);
    if (rank == round % ranks) usleep(20000);
    MPI_Ialltoall(out, 1, MPI_INT, started, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Alltoall(like, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), check(in, 1, 50 + round);
    MPI_Wait(&request, MPI_STATUS_IGNORE), check(started, 1, round);
  }
}

static void crossed(void) {
  MPI_Comm comms[2], made;
  int *out = malloc((size_t)ranks * BLOCK * sizeof *out), *in = malloc((size_t)ranks * BLOCK * sizeof *in);
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int round = 0; round < 6; ++round) {
    MPI_Request request;
    const int of = round % 2;
    fill(out, in, BLOCK, round);
    if (rank > 0) MPI_Comm_dup(comms[1 - of], &made);
    MPI_Ialltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comms[of], &request);
    if (rank == 0) MPI_Comm_dup(comms[1 - of], &made);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(in, BLOCK, round);
    MPI_Comm_free(&made);
  }
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  free(out), free(in);
}

static void after(void) {
  int *out = malloc((size_t)ranks * sizeof *out), *in = malloc((size_t)ranks * sizeof *in);
  MPI_Request request;
  for (int round = 0; round < 12; ++round) {
    fill(out, in, 1, round);
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), check(in, 1, round);
    if (round < 4) continue;
    fill(out, in, 1, round);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE), check(in, 1, round);
  }
  free(out), free(in);
}

static void start_unequal(int *out, int *in, int round, MPI_Request *request) {
  int counts[64], places[64];
  MPI_Datatype types[64];
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i * (int)sizeof *in, types[i] = MPI_INT;
  fill(out ? out : in, in, 1, round);
  for (int i = 0; !out && i < ranks; ++i) in[i] = round * 1000 + rank * ranks + i;
  MPI_Ialltoallw(out ? out : MPI_IN_PLACE, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, request);
}

static void apart(void) {
  int out[64], in[2][64];
  MPI_Request requests[2];
  for (int round = 0; round < 2; ++round) {
    fill(out, in[0], 1, round);
    MPI_Ialltoall(out, 1, MPI_INT, in[0], 1, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE), check(in[0], 1, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) usleep(100000);
  start_unequal(NULL, in[0], 2, &requests[0]);
  if (rank == 0) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  start_unequal(out, in[1], 3, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) check(in[i], 1, 2 + i);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  int all_wrong = 0, provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(mode, "elsewhere") == 0) elsewhere();
  if (strcmp(mode, "opposite") == 0) opposite();
  if (strcmp(mode, "released") == 0) released();
  if (strcmp(mode, "status") == 0) status_of_request();
  if (strcmp(mode, "many") == 0) many();
  if (strcmp(mode, "threads") == 0 && provided == MPI_THREAD_MULTIPLE) threads();
  if (strcmp(mode, "between") == 0) between();
  if (strcmp(mode, "crossed") == 0) crossed();
  if (strcmp(mode, "overtaken") == 0) overtaken();
  if (strcmp(mode, "after") == 0) after();
  if (strcmp(mode, "apart") == 0) apart();
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(all_wrong ? "progress: %d wrong\n" : "progress: right\n", all_wrong);
  MPI_Finalize();
  return 0;
}
