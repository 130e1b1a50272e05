/* pending: several non-blocking all-to-alls of a communicator under way at once, on one node.
 *
 *   pending alone   Rank 0 starts MANY exchanges when all other ranks have started theirs and call no function of MPI any
 *                   more. It prints how many of them are complete on it before the others go on: "pending: N of MANY".
 *   pending alike   Exchanges of unequal blocks with equal arguments. Rank 0 completes each before it starts the next one,
 *                   the other ranks complete them in pairs. It prints "pending: right".
 *   pending mixed   Windows of up to MOST exchanges of several forms and sizes, which are completed in another order on
 *                   each rank, with blocking ones between them. It checks every block and prints "pending: right". */
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 3, MOST = 9, WINDOWS = 60, LOOKS = 20000, LARGEST = 40000 };

static int me, ranks, wrong;

static unsigned long seed;
static int chosen(int below) {
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  return (int)(seed >> 33) % below;
}

typedef struct {
  int form, ints, number;
  int *out, *in, *counts, *places, *bytes;
  MPI_Datatype *types;
} Exchange;

static int value(int number, int source, int destination, int k) {
  return (int)(((unsigned)number * 131u + (unsigned)source) * 137u + (unsigned)destination) * 139 + k;
}

static void make(Exchange *one) {
  const size_t ints = (size_t)ranks * LARGEST;
  one->out = malloc(ints * sizeof(int)), one->in = malloc(ints * sizeof(int));
  one->counts = malloc((size_t)ranks * sizeof(int)), one->places = malloc((size_t)ranks * sizeof(int));
  one->bytes = malloc((size_t)ranks * sizeof(int)), one->types = malloc((size_t)ranks * sizeof *one->types);
}

static void drop(Exchange *one) {
  free(one->out), free(one->in), free(one->counts), free(one->places), free(one->bytes), free(one->types);
}

static void fill(Exchange *one) {
  for (int i = 0; i < ranks; ++i) {
    one->counts[i] = one->ints, one->places[i] = i * one->ints, one->types[i] = MPI_INT;
    one->bytes[i] = i * one->ints * (int)sizeof(int);
    for (int k = 0; k < one->ints; ++k) {
      one->out[i * one->ints + k] = value(one->number, me, i, k);
      one->in[i * one->ints + k] = -1;
    }
  }
}

static void start(Exchange *one, MPI_Request *request) {
  fill(one);
  if (one->form == 0) MPI_Ialltoall(one->out, one->ints, MPI_INT, one->in, one->ints, MPI_INT, MPI_COMM_WORLD, request);
  else if (one->form == 1)
    MPI_Ialltoallv(one->out, one->counts, one->places, MPI_INT, one->in, one->counts, one->places, MPI_INT,
                   MPI_COMM_WORLD, request);
  else
    MPI_Ialltoallw(one->out, one->counts, one->bytes, one->types, one->in, one->counts, one->bytes, one->types,
                   MPI_COMM_WORLD, request);
}

static void check(const Exchange *one) {
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < one->ints; ++k)
      if (one->in[i * one->ints + k] != value(one->number, i, me, k)) {
        if (!wrong++)
          printf("pending: rank %d, exchange %d, form %d, %d ints: block of rank %d is wrong at %d\n", me, one->number,
                 one->form, one->ints, i, k);
        return;
      }
}

static void mixed(Exchange *all) {
  static const int sizes[] = {0, 1, 2, 500, 3000, LARGEST};
  MPI_Request requests[MOST];
  int number = 0;
  for (int window = 0; window < WINDOWS; ++window) {
    seed = (unsigned long)window * 977 + 5; /* the same on all ranks */
    const int many = 1 + chosen(MOST), blocking = chosen(4) == 0;
    for (int i = 0; i < many; ++i) {
      all[i].form = chosen(3), all[i].ints = sizes[chosen(6)], all[i].number = ++number;
      start(&all[i], &requests[i]);
    }
    seed += (unsigned long)(me + 1) * 7919; /* from here on, another order on each rank */
    for (int i = 0; i < chosen(3); ++i) sched_yield();
    for (int left = blocking ? many / 2 : many; left > 0; --left) {
      int which = MPI_UNDEFINED;
      if (chosen(2)) {
        MPI_Waitany(many, requests, &which, MPI_STATUS_IGNORE);
      } else {
        while (requests[which = chosen(many)] == MPI_REQUEST_NULL) continue;
        MPI_Wait(&requests[which], MPI_STATUS_IGNORE);
      }
      check(&all[which]);
      all[which].ints = 0; /* it is checked */
    }
    if (!blocking) continue;
    Exchange *const last = &all[MOST];
    last->ints = 7, last->number = ++number;
    fill(last);
    MPI_Alltoall(last->out, last->ints, MPI_INT, last->in, last->ints, MPI_INT, MPI_COMM_WORLD);
    check(last);
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < many; ++i) check(&all[i]);
  }
}

static void alike(Exchange *all) {
  MPI_Request requests[2];
  for (int number = 0; number < 40; ++number) {
    Exchange *const one = &all[number % 2];
    one->form = 1, one->ints = LARGEST / 2, one->number = number;
    start(one, &requests[number % 2]);
    if (me > 0 && number % 2 == 0) continue;
    MPI_Waitall(me > 0 ? 2 : 1, me > 0 ? requests : &requests[number % 2], MPI_STATUSES_IGNORE);
    if (me > 0) check(&all[0]);
    check(one);
  }
}

static int alone(Exchange *all, atomic_int *shared) {
  MPI_Request requests[MANY];
  int number = 0, complete = 0;
  for (int round = 0; round < 10; ++round) {
    const int last = round == 9;
    if (last) MPI_Barrier(MPI_COMM_WORLD);
    if (last && me == 0)
      while (atomic_load(&shared[0]) < ranks - 1) sched_yield();
    for (int i = 0; i < MANY; ++i) {
      all[i].form = 0, all[i].ints = 3, all[i].number = ++number;
      start(&all[i], &requests[i]);
    }
    if (last && me > 0) {
      atomic_fetch_add(&shared[0], 1);
      while (!atomic_load(&shared[1])) sched_yield();
    } else if (last) {
      for (int look = 0; look < LOOKS && complete < MANY; ++look) {
        int done = 0;
        MPI_Request_get_status(requests[complete], &done, MPI_STATUS_IGNORE);
        complete += done;
      }
      atomic_store(&shared[1], 1);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; ++i) check(&all[i]);
  }
  return complete;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Exchange all[MOST + 1];
  for (int i = 0; i <= MOST; ++i) make(&all[i]);
  int complete = -1;
  if (argc > 1 && strcmp(argv[1], "alone") == 0) {
    atomic_int *shared = NULL;
    MPI_Win window;
    MPI_Win_allocate_shared(2 * sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
    shared[0] = shared[1] = 0;
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
    MPI_Barrier(MPI_COMM_WORLD);
    complete = alone(all, shared);
    MPI_Win_free(&window);
  } else if (argc > 1 && strcmp(argv[1], "alike") == 0) {
    alike(all);
  } else {
    mixed(all);
  }
  for (int i = 0; i <= MOST; ++i) drop(&all[i]);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0 && complete >= 0) printf("pending: %d of %d\n", complete, MANY);
  if (me == 0 && wrong == 0) printf("pending: right\n");
  MPI_Finalize();
  return wrong > 0;
}
