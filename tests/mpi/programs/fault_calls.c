/* A series of all-to-alls while one call that the library makes fails once (fault.c), again and again: on a fresh
 * communicator the 1st such call, then the 2nd, and so on. Every buffer is poisoned before a call, and each element that
 * is exchanged is a function of the call, its source, its destination and its place.
 *
 * Arguments: the function that fails (with "+": after its work), the first and the last of its calls to fail, the rank
 * that it fails on, the least bytes of an allocation, "cold" (from the first call on the communicator), "started" (the
 * same, and what comes first does not block) or "warm" (not in the first round of calls). Rank by rank and fault by fault a line, with a letter for each call of the series:
 *   fault 3 rank 1 fired 1: ....e.......
 * "." is right, "e" returned an error, "W" returned MPI_SUCCESS with something wrong in its buffer (or wrote where it must not), "-" was left out, for there is no plan. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swapmeet/swapmeet.h>

enum { MOST = 1400, STRIDE = 2, GUARD = 1 << 12, POISON = 0x5a5a5a5a, ROUNDS = 3, MOST_CALLS = 128 };

static int count =
    MOST; /* ints of a block: by turns below and above the 4 KiB from which Open MPI sends by rendezvous */

static int rank, ranks, serial;
static char letters[MOST_CALLS + 1];
static int letter;
static MPI_Comm comm;        /* that is tested */
static MPI_Comm out_of_band; /* of the host MPI alone */
static MPI_Datatype strided; /* an int, and a gap of as many bytes */

static int *out, *in;
static int counts[64], in_counts[64], places[64], in_places[64], offsets[64], in_offsets[64];
static MPI_Datatype types[64], in_types[64];

static int ints(void) { return ranks * MOST * STRIDE + 2 * GUARD; }

static int value(int call, int source, int destination, int index) {
  return (int)(1000003u * (unsigned)call + 40009u * (unsigned)source + 7919u * (unsigned)destination + (unsigned)index);
}

/* elements that `source` sends to `destination` in a call of unequal blocks: the same in each call, so that no message
 * is too long for the next call */
static int unequal(int source, int destination) { return count - 31 * ((source + 2 * destination) % 5); }

struct shape {
  int unequal, in_place, sent_stride, received_stride;
};

static int elements(const struct shape *shape, int source, int destination) {
  return !shape->unequal ? count
         : !shape->in_place
             ? unequal(source, destination)
             : unequal(source < destination ? source : destination, source < destination ? destination : source);
}

static void fill(const struct shape *shape) {
  ++serial;
  for (int i = 0; i < ints(); ++i) out[i] = POISON, in[i] = POISON;
  for (int peer = 0; peer < ranks; ++peer) {
    int *const block = (shape->in_place ? in : out) + GUARD + peer * count * shape->sent_stride;
    counts[peer] = elements(shape, rank, peer), in_counts[peer] = elements(shape, peer, rank);
    places[peer] = peer * count, in_places[peer] = peer * count;
    offsets[peer] = peer * count * shape->sent_stride * (int)sizeof(int);
    in_offsets[peer] = peer * count * shape->received_stride * (int)sizeof(int);
    types[peer] = shape->sent_stride == 1 ? MPI_INT : strided;
    in_types[peer] = shape->received_stride == 1 ? MPI_INT : strided;
    for (int i = 0; i < counts[peer]; ++i) block[i * shape->sent_stride] = value(serial, rank, peer, i);
  }
}

static int spoiled(const int *from, const int *to) {
  int wrong = 0;
  while (from < to) wrong += *from++ != POISON;
  return wrong;
}

static void judge(const struct shape *shape, int error) {
  const int stride = shape->received_stride, block = count * stride;
  int wrong = spoiled(in, in + GUARD) + spoiled(in + GUARD + ranks * block, in + ints());
  for (int source = 0; source < ranks; ++source) {
    const int *const received = in + GUARD + source * block;
    const int data = elements(shape, source, rank);
    for (int i = 0; i < data && !error; ++i) /* an exchange that failed leaves anything there */
      wrong += received[i * stride] != value(serial, source, rank, i);
    for (int i = 0; i < data && stride == STRIDE; ++i) wrong += received[i * STRIDE + 1] != POISON;
    wrong += spoiled(received + data * stride, received + block);
  }
  letters[letter++] = wrong ? 'W' : error ? 'e' : '.';
  if (!wrong) return;
  printf("rank %d: call %d of the series has %d wrong ints and returned %s\n", rank, letter, wrong,
         error ? "an error" : "MPI_SUCCESS"); /* now, for the ranks may be out of step and never come to the end */
  fflush(stdout);
}

static void alltoall(int sent_stride, int received_stride, int in_place) {
  const struct shape shape = {0, in_place, sent_stride, received_stride};
  fill(&shape);
  judge(&shape,
        MPI_Alltoall(in_place ? MPI_IN_PLACE : out + GUARD, count, types[0], in + GUARD, count, in_types[0], comm));
}

static void alltoallv(int unequal, int sent_stride, int received_stride, int in_place) {
  const struct shape shape = {unequal, in_place, sent_stride, received_stride};
  fill(&shape);
  judge(&shape, MPI_Alltoallv(in_place ? MPI_IN_PLACE : out + GUARD, counts, places, types[0], in + GUARD, in_counts,
                              in_places, in_types[0], comm));
}

static void alltoallw(int sent_stride, int received_stride, int in_place) {
  const struct shape shape = {1, in_place, sent_stride, received_stride};
  fill(&shape);
  judge(&shape, MPI_Alltoallw(in_place ? MPI_IN_PLACE : out + GUARD, counts, offsets, types, in + GUARD, in_counts,
                              in_offsets, in_types, comm));
}

/* Without blocking, and waited for at once. */
static void started(int unequal, int stride) {
  const struct shape shape = {unequal, 0, stride, stride};
  MPI_Request request;
  fill(&shape);
  int error = unequal ? MPI_Ialltoallv(out + GUARD, counts, places, types[0], in + GUARD, in_counts, in_places,
                                       in_types[0], comm, &request)
                      : MPI_Ialltoall(out + GUARD, count, types[0], in + GUARD, count, in_types[0], comm, &request);
  if (!error) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  judge(&shape, error);
}

/* A persistent request, started twice. None on all ranks if one of them got none. */
static void persistent(void) {
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
  const struct shape shape = {0, 0, 1, 1};
  MPI_Request request = MPI_REQUEST_NULL;
  const int none =
      MPI_Alltoall_init(out + GUARD, count, MPI_INT, in + GUARD, count, MPI_INT, comm, MPI_INFO_NULL, &request);
  int everywhere = !none;
  letters[letter++] = none ? 'e' : '.';
  MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, out_of_band);
  for (int i = 0; i < 2 && everywhere; ++i) {
    fill(&shape);
    const int error = MPI_Start(&request), ended = MPI_Wait(&request, MPI_STATUS_IGNORE);
    judge(&shape, error ? error : ended);
  }
  if (!none) MPI_Request_free(&request);
#endif
}

/* Makes a plan. NULL on all ranks if one of them got none. */
static swapmeet_plan *plan(const struct shape *shape) {
  swapmeet_plan *made = NULL;
  fill(shape);
  const int error = shape->unequal ? swapmeet_plan_alltoallv(out + GUARD, counts, places, types[0], in + GUARD,
                                                             in_counts, in_places, in_types[0], comm, NULL, &made)
                                   : swapmeet_plan_alltoall(out + GUARD, count, types[0], in + GUARD, count,
                                                            in_types[0], comm, NULL, &made);
  int everywhere = made != NULL;
  letters[letter++] = error ? 'e' : made ? '.' : 'W';
  MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, out_of_band);
  if (!everywhere) swapmeet_plan_free(&made);
  return made;
}

/* A start that fails on one rank only must not leave the others waiting. */
static void planned(swapmeet_plan *plan, const struct shape *shape) {
  if (!plan) {
    letters[letter++] = '-';
    return;
  }
  fill(shape);
  int error = swapmeet_plan_start(plan);
  if (!error) error = swapmeet_plan_wait(plan);
  judge(shape, error);
}

static void plans(void) {
  static const struct shape equal = {0, 0, 1, 1}, unequal = {1, 0, 2, 2};
  swapmeet_plan *first = plan(&equal), *second = plan(&unequal);
  for (int i = 0; i < 2; ++i) planned(first, &equal), planned(second, &unequal);
  swapmeet_plan_free(&second);
  swapmeet_plan_free(&first);
}

/* Each call three times: ranks that are out of step would not notice if it were not for the data. */
static void series(void) {
  for (int i = 0; i < 3; ++i) alltoall(1, 1, 0);
  for (int i = 0; i < 3; ++i) alltoall(2, 2, 0);
  for (int i = 0; i < 3; ++i) alltoall(2, 2, 1);
  for (int i = 0; i < 3; ++i) alltoallv(1, 1, 1, 0);
  for (int i = 0; i < 3; ++i) alltoallv(1, 2, 2, 0);
  for (int i = 0; i < 3; ++i) alltoallv(1, 1, 1, 1);
  for (int i = 0; i < 3; ++i) alltoallv(0, 1, 1, 0);
  for (int i = 0; i < 3; ++i) alltoallw(1, 2, 0);
  MPI_Barrier(comm); /* from which on Open MPI lets the library serve what does not block */
  for (int i = 0; i < 2; ++i) started(0, 2), started(1, 1), started(1, 2);
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  const char *const function = argv[1];
  const long first = atol(argv[2]), last = atol(argv[3]);
  const int victim = atoi(argv[4]), warm = !strcmp(argv[6], "warm"), starts = !strcmp(argv[6], "started");
  const size_t bytes = strtoull(argv[5], NULL, 10);
  int (*arm)(const char *, long, size_t);
  long (*fired)(void);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "fault_arm");
  *(void **)&fired = dlsym(RTLD_DEFAULT, "fault_fired");
  if (!arm || !fired || !arm("nothing", 0, 0))
    return fputs("fault_calls: preload libswapmeet.so and fault.so\n", stderr), 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &out_of_band);
  out = malloc((size_t)ints() * sizeof(int)), in = malloc((size_t)ints() * sizeof(int));
  for (long nth = first; nth <= last; ++nth) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Type_create_resized(MPI_INT, 0, STRIDE * (MPI_Aint)sizeof(int), &strided); /* which nobody knows yet */
    MPI_Type_commit(&strided);
    letter = 0, serial = 1000 * (int)nth, count = nth % 2 ? MOST : MOST / 2;
    memset(letters, 0, sizeof letters);
    if (!warm && rank == victim) arm(function, nth, bytes);
    for (int i = 0; i < (starts ? 2 : 0); ++i) started(0, 2), started(1, 1);
    for (int round = 0; round < ROUNDS; ++round) {
      if (warm && round == 1 && rank == victim) arm(function, nth, bytes);
      series();
      if (round == 1) plans();
      if (starts && round == 1) persistent();
    }
    printf("fault %ld rank %d fired %ld: %s\n", nth, rank, fired(), letters);
    fflush(stdout);
    MPI_Type_free(&strided);
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  return 0;
}
