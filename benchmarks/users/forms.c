/* The forms in which programs call all-to-all, timed and printed in the form of IMB: "# Benchmarking NAME", then a line
 * for each size.
 *
 *   forms calls MOST CALLS       blocks of 8 B, 1 KiB, 16 KiB, 256 KiB and 2 MiB, up to MOST bytes
 *   forms threads MOST CALLS     the same of two threads of each rank, by MPI_THREAD_MULTIPLE
 *
 * Each call is timed by itself, with a barrier behind it that is not; printed are bytes for each destination, calls, and
 * the least, greatest and mean time of the ranks, of the mean over at most CALLS calls. What arrives is checked.
 *
 * The program knows nothing of the library. It reports whether the process holds it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { VOLUME = 128 << 20, WARM = 2, LARGEST = 2 << 20, GAP = 24, ODD = 3, THREADS = 2, COLD = 64 << 20 };

/* One exchange of blocks of `bytes`; what a form needs besides is made by its `prepare`. */
typedef struct Run {
  MPI_Comm comm, other; /* other: of forms that have two, else MPI_COMM_NULL */
  int ranks, rank, bytes;
  char *send, *receive; /* where the blocks begin */
  int gap;              /* bytes between blocks, on both sides */
  int *counts, *offsets;
  MPI_Datatype sent;    /* of the form's own making, or MPI_DATATYPE_NULL */
  size_t spread, turns; /* bytes from the buffers of one call to those of the next, and of how many calls they differ */
} Run;

typedef struct Form {
  const char *name;
  void (*prepare)(Run *run); /* NULL: nothing */
  Call *fill;                /* anew before each call, untimed; NULL: once */
  Call *call;                /* of a Run */
  int in_place, threads;
} Form;

static void fail(const char *what) {
  fprintf(stderr, "forms: %s\nusage: forms calls|threads MOST CALLS\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/* --- what stands in blocks ---------------------------------------------------------------------------------------- */

static char mark(int from, int to) { return (char)(1 + 11 * from + to); }

static char *block(char *blocks, const Run *run, int i) { return blocks + (size_t)i * (run->bytes + run->gap); }

static void fill_in_place(void *what, int turn) {
  const Run *const run = what;
  (void)turn;
  for (int i = 0; i < run->ranks; ++i) memset(block(run->receive, run, i), mark(run->rank, i), run->bytes);
}

static void fill(Run *run, char *blocks) {
  for (int i = 0; i < run->ranks; ++i) memset(block(blocks, run, i), mark(run->rank, i), run->bytes);
}

static void check(const Run *run, char *blocks) {
  for (int i = 0; i < run->ranks; ++i)
    for (int b = 0; b < run->bytes; ++b)
      if (block(blocks, run, i)[b] != mark(i, run->rank)) fail("WRONG data were delivered");
}

/* --- forms -------------------------------------------------------------------------------------------------------- */

static void plain(void *what, int turn) {
  const Run *const run = what;
  const size_t at = turn % run->turns * run->spread;
  MPI_Alltoall(run->send + at, run->bytes, MPI_CHAR, run->receive + at, run->bytes, MPI_CHAR, run->comm);
}

static void in_place(void *what, int turn) {
  const Run *const run = what;
  (void)turn;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, run->receive, run->bytes, MPI_CHAR, run->comm);
}

static void v_in_place(void *what, int turn) {
  const Run *const run = what;
  (void)turn;
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, run->receive, run->counts, run->offsets, MPI_CHAR,
                run->comm);
}

static void with_gaps(Run *run) { run->gap = GAP, run->send += ODD, run->receive += ODD; }

static void v(void *what, int turn) {
  const Run *const run = what;
  (void)turn;
  MPI_Alltoallv(run->send, run->counts, run->offsets, MPI_CHAR, run->receive, run->counts, run->offsets, MPI_CHAR,
                run->comm);
}

static void other_types(void *what, int turn) {
  const Run *const run = what;
  (void)turn;
  MPI_Alltoall(run->send, run->bytes / 4, MPI_INT, run->receive, run->bytes / 8, MPI_DOUBLE, run->comm);
}

/* Every other eight bytes of the send buffer; the blocks are as large as if it had none between. */
static void strided(Run *run) {
  MPI_Datatype vector;
  MPI_Type_vector(run->bytes / 8, 8, 16, MPI_CHAR, &vector);
  MPI_Type_create_resized(vector, 0, 2 * (MPI_Aint)run->bytes, &run->sent);
  MPI_Type_commit(&run->sent);
  MPI_Type_free(&vector);
}

static void strided_send(void *what, int turn) {
  const Run *const run = what;
  (void)turn;
  MPI_Alltoall(run->send, 1, run->sent, run->receive, run->bytes, MPI_CHAR, run->comm);
}

/* A grid of ranks, as square as can be: its rows and columns in turn, both timed. */
static void grid(Run *run) {
  int sides[2] = {0, 0}, rank = run->rank;
  MPI_Dims_create(run->ranks, 2, sides);
  MPI_Comm_split(MPI_COMM_WORLD, rank / sides[1], rank, &run->comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % sides[1], rank, &run->other);
  MPI_Comm_size(run->comm, &run->ranks);
  MPI_Comm_rank(run->comm, &run->rank);
}

static void rows_and_columns(void *what, int turn) {
  const Run *const run = what;
  int ranks = 0;
  MPI_Comm_size(run->other, &ranks);
  if (ranks > 1) /* what the columns exchange is not checked: it is overwritten by the rows */
    MPI_Alltoall(run->send, run->bytes, MPI_CHAR, run->receive, run->bytes, MPI_CHAR, run->other);
  plain(what, turn);
}

static void communicator_each_call(void *what, int turn) {
  const Run *const run = what;
  MPI_Comm once;
  MPI_Comm_dup(run->comm, &once);
  (void)turn;
  MPI_Alltoall(run->send, run->bytes, MPI_CHAR, run->receive, run->bytes, MPI_CHAR, once);
  MPI_Comm_free(&once);
}

/* The buffers of a call lie where no call has been for as long as 64 MiB fit between. */
static void cold(Run *run) {
  const size_t bytes = (size_t)run->ranks * run->bytes;
  run->spread = bytes + 4096 - bytes % 4096;
  run->turns = COLD / run->spread + 1;
  run->send = room(run->turns * run->spread), run->receive = room(run->turns * run->spread);
}

static void fresh_buffers(void *what, int turn) {
  const Run *const run = what;
  const size_t bytes = (size_t)run->ranks * run->bytes;
  char *const send = malloc(bytes), *const receive = malloc(bytes);
  (void)turn;
  if (!send || !receive) fail("out of memory");
  memcpy(send, run->send, bytes);
  MPI_Alltoall(send, run->bytes, MPI_CHAR, receive, run->bytes, MPI_CHAR, run->comm);
  memcpy(run->receive, receive, bytes);
  free(send), free(receive);
}

static void after_allreduce(void *what, int turn) {
  const Run *const run = what;
  double sum = turn, all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, run->comm);
  plain(what, turn);
}

static void alloc_mem(Run *run) {
  const MPI_Aint bytes = (MPI_Aint)run->ranks * run->bytes;
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &run->send);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, &run->receive);
}

typedef struct Thread {
  pthread_t id;
  Run run;
  int turn;
} Thread;

static Thread threads[THREADS];

static void *in_thread(void *thread) {
  Thread *const one = thread;
  for (int i = 0; i < 10; ++i) plain(&one->run, one->turn);
  return NULL;
}

static void communicators_of_threads(Run *run) {
  for (int i = 0; i < THREADS; ++i) {
    threads[i].run = *run;
    MPI_Comm_dup(run->comm, &threads[i].run.comm);
    if (i == 0) continue;
    threads[i].run.receive = room((size_t)run->ranks * run->bytes);
  }
}

/* Ten calls of each thread, of which the time of all is taken. */
static void two_threads(void *what, int turn) {
  (void)what;
  for (int i = 0; i < THREADS; ++i) {
    threads[i].turn = turn;
    if (pthread_create(&threads[i].id, NULL, in_thread, &threads[i]) != 0) fail("a thread was refused");
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i].id, NULL);
}

static const Form forms[] = {{"plain", NULL, NULL, plain, 0, 0},
                             {"in_place", NULL, fill_in_place, in_place, 1, 0},
                             {"v_in_place", NULL, fill_in_place, v_in_place, 1, 0},
                             {"v_with_gaps", with_gaps, NULL, v, 0, 0},
                             {"other_types", NULL, NULL, other_types, 0, 0},
                             {"strided_send", strided, NULL, strided_send, 0, 0},
                             {"rows_and_columns", grid, NULL, rows_and_columns, 0, 0},
                             {"communicator_each_call", NULL, NULL, communicator_each_call, 0, 0},
                             {"cold_buffers", cold, NULL, plain, 0, 0},
                             {"fresh_buffers", NULL, NULL, fresh_buffers, 0, 0},
                             {"after_allreduce", NULL, NULL, after_allreduce, 0, 0},
                             {"alloc_mem", alloc_mem, NULL, plain, 0, 0},
                             {"two_threads", communicators_of_threads, NULL, two_threads, 0, 1}};

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static void exchange(const Form *form, int bytes, int limit) {
  Run run = {MPI_COMM_WORLD, MPI_COMM_NULL, 0, 0, bytes, NULL, NULL, 0, NULL, NULL, MPI_DATATYPE_NULL, 0, 1};
  MPI_Comm_size(run.comm, &run.ranks);
  MPI_Comm_rank(run.comm, &run.rank);
  const size_t most = 2 * (size_t)run.ranks * (bytes + GAP) + ODD; /* of blocks with gaps, or strided */
  char *const send = run.send = room(most), *const receive = run.receive = room(most);
  run.counts = room(run.ranks * sizeof(int)), run.offsets = room(run.ranks * sizeof(int));
  if (form->prepare) form->prepare(&run);
  for (int i = 0; i < run.ranks; ++i) run.counts[i] = bytes, run.offsets[i] = i * (bytes + run.gap);
  if (run.sent == MPI_DATATYPE_NULL)
    for (size_t turn = 0; turn < run.turns; ++turn) fill(&run, run.send + turn * run.spread);
  else
    for (int i = 0; i < run.ranks; ++i) memset(run.send + 2 * (size_t)i * bytes, mark(run.rank, i), 2 * (size_t)bytes);
  int of_job = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &of_job);
  const int calls = calls_within(VOLUME, (double)bytes * of_job * of_job, limit);
  measure(bytes, calls, WARM + calls / 10, form->fill, form->call, &run);
  if (form->in_place) fill_in_place(&run, 0), MPI_Barrier(MPI_COMM_WORLD), form->call(&run, 0);
  check(&run, run.receive);
  for (int i = 1; form->threads && i < THREADS; ++i) check(&threads[i].run, threads[i].run.receive);
  for (int i = 0; form->threads && i < THREADS; ++i) {
    if (i > 0) free(threads[i].run.receive);
    MPI_Comm_free(&threads[i].run.comm);
  }
  if (run.sent != MPI_DATATYPE_NULL) MPI_Type_free(&run.sent);
  if (run.comm != MPI_COMM_WORLD) MPI_Comm_free(&run.comm), MPI_Comm_free(&run.other);
  if (form->prepare == alloc_mem) MPI_Free_mem(run.send), MPI_Free_mem(run.receive);
  if (form->prepare == cold) free(run.send), free(run.receive);
  free(send), free(receive), free(run.counts), free(run.offsets);
}

int main(int argc, char **argv) {
  const int threaded = argc > 1 && strcmp(argv[1], "threads") == 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (argc != 4) fail("there are three arguments");
  if (!threaded && strcmp(argv[1], "calls") != 0) fail("the first argument is neither calls nor threads");
  if (threaded && provided < MPI_THREAD_MULTIPLE) fail("MPI_THREAD_MULTIPLE is refused");
  const int most = atoi(argv[2]), limit = atoi(argv[3]);
  if (most < 8 || limit < 1) fail("MOST is at least 8, CALLS at least 1");
  report_library();
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
    if (forms[i].threads != threaded) continue;
    title(forms[i].name);
    for (int bytes = 8; bytes <= LARGEST && bytes <= most; bytes *= bytes == 8 ? 128 : bytes == 256 << 10 ? 8 : 16)
      exchange(&forms[i], bytes, limit);
  }
  MPI_Finalize();
  return 0;
}
