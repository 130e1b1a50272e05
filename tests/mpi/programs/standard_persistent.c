/* What MPI says of persistent all-to-alls (standard.h). */
#include "standard.h"

#if HAS_PERSISTENT

#define FOR_EACH_PLAN(kind, in_place)      \
  for (int kind = 0; kind < KINDS; ++kind) \
    for (int in_place = 0; in_place < 2; ++in_place)

/* 3.7.5, 5.13: an inactive request is complete at once, with an empty status; where all are inactive there is none to complete.
 * MPICH 5.0.2 itself, which serves a rank that is alone, waits for ever then. */
static void check_inactive(MPI_Request request, int never) {
  MPI_Request both[2] = {request, MPI_REQUEST_NULL};
  MPI_Status status[2];
  int flag = 0, some = 0, which[2];
  for (int way = 0; way < 4; ++way) {
    int cancelled = 1, count = -1;
    memset(status, 0x55, sizeof status);
    if (way == 0) MPI_Wait(&both[0], status);
    if (way == 1) MPI_Test(&both[0], &flag, status), expect(flag, "MPI_Test: not complete");
    if (way == 2) MPI_Waitall(2, both, status);
    if (way == 3) MPI_Request_get_status(both[0], &flag, status), expect(flag, "MPI_Request_get_status: not complete");
    MPI_Test_cancelled(status, &cancelled), MPI_Get_count(status, MPI_INT, &count);
    expect(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && !cancelled && count == 0,
           "never started %d, way %d: source %d, tag %d, cancelled %d, count %d", never, way, status->MPI_SOURCE,
           status->MPI_TAG, cancelled, count);
  }
  MPI_Waitany(2, both, &some, status), expect(some == MPI_UNDEFINED, "MPI_Waitany: %d", some);
  MPI_Testany(2, both, &some, &flag, status), expect(flag && some == MPI_UNDEFINED, "MPI_Testany: %d, %d", flag, some);
  MPI_Waitsome(2, both, &some, which, status), expect(some == MPI_UNDEFINED, "MPI_Waitsome: %d", some);
  MPI_Testsome(2, both, &some, which, status), expect(some == MPI_UNDEFINED, "MPI_Testsome: %d", some);
  expect(both[0] == request, "the request has changed");
}

static void inactive(void) {
  FOR_EACH_PLAN(kind, in_place) {
    All x = all_open(MPI_COMM_WORLD, kind, PERSISTENT, in_place);
    check_inactive(x.request, 1);
    all_once(&x, 0), all_once(&x, 1);
    check_inactive(x.request, 0);
    all_close(&x);
  }
}

/* 5.13: a start is local: one rank starts, and tells the others, which then start; each is the first one in turn. */
static void local(void) {
  FOR_EACH_PLAN(kind, in_place) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    All x = all_open(comm, kind, PERSISTENT, in_place);
    for (int round = 0; round < 2 * ranks; ++round) all_told(&x, round, round % ranks);
    all_close(&x);
    MPI_Comm_free(&comm);
  }
}

/* 5.13: many requests for one communicator, active together, started in any order and by MPI_Startall together with messages. */
static void together(void) {
  enum { MANY = 12 };
  All x[MANY];
  MPI_Comm comm;
  MPI_Request all[MANY + 2];
  int sent = rank, got;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < MANY; ++i) x[i] = all_open(comm, i % KINDS, PERSISTENT, i / KINDS % 2);
  MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % ranks, 3, comm, &all[MANY]);
  MPI_Recv_init(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, comm, &all[MANY + 1]);
  for (int round = 0; round < 6; ++round) {
    int number = MANY + 2, index;
    got = -1;
    for (int i = 0; i < MANY; ++i) all_fill(&x[i], round), all[i] = x[i].request;
    if (round % 2) MPI_Startall(MANY + 2, all);
    else
      for (int i = 0; i < MANY + 2; ++i) MPI_Start(&all[(i * 5 + rank) % (MANY + 2)]);
    if (round == 0) MPI_Waitall(MANY + 2, all, MPI_STATUSES_IGNORE);
    else if (round % 3 == 1)
      while (number-- > 0) MPI_Waitany(MANY + 2, all, &index, MPI_STATUS_IGNORE);
    else
      for (int i = 0; i < MANY + 2; ++i) MPI_Wait(&all[(i * 3 + 5 * rank) % (MANY + 2)], MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; ++i) all_check(&x[i], round);
    expect(got == (rank + ranks - 1) % ranks, "the message has %d", got);
  }
  for (int i = 0; i < MANY; ++i) all_close(&x[i]);
  MPI_Request_free(&all[MANY]), MPI_Request_free(&all[MANY + 1]);
  MPI_Comm_free(&comm);
}

/* 5.13, 7.4.3: communicators and types may be freed while requests for them are there, which still can be started. Open MPI
 * 5.0.11 itself ends the program then. */
static void outlive(void) {
  All x[2 * KINDS];
  for (int i = 0; i < 2 * KINDS; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank : rank, &comm);
    x[i] = all_open(comm, i % KINDS, PERSISTENT, i / KINDS);
    MPI_Type_free(&x[i].vector);
    if (i % 2) all_fill(&x[i], 1), all_begin(&x[i]);
    MPI_Comm_free(&comm);
  }
  for (int i = 0; i < 2 * KINDS; ++i) {
    if (i % 2) MPI_Wait(&x[i].request, MPI_STATUS_IGNORE), all_check(&x[i], 1);
    all_once(&x[i], 2), all_once(&x[i], 3);
    MPI_Type_dup(MPI_INT, &x[i].vector), all_close(&x[i]);
  }
}

/* 3.9, 5.13: requests that were never started, or are complete, may be freed at once, though other ranks still wait; the next may
 * be made meanwhile. */
static void freed_early(void) {
  for (int round = 0; round < 20; ++round) FOR_EACH_PLAN(kind, in_place) {
      All x = all_open(MPI_COMM_WORLD, kind, PERSISTENT, in_place),
          never = all_open(MPI_COMM_WORLD, kind, PERSISTENT, 0);
      all_close(&never);
      if (rank == round % ranks) usleep(200);
      all_once(&x, round);
      all_close(&x);
    }
}

/* 5.13: a rank that receives nothing may start again and again while the others are behind. */
static void ahead(void) {
  enum { MOST = 300, ROUNDS = 50 };
  int *const out = malloc((size_t)ranks * MOST * sizeof(int)), *const in = malloc((size_t)ranks * MOST * sizeof(int)),
             *const counts = calloc((size_t)ranks, sizeof(int)), *const received = calloc((size_t)ranks, sizeof(int)),
             *const places = malloc((size_t)ranks * sizeof(int));
  for (int root = 0; root < ranks; ++root)
    for (int size = 1; size <= MOST; size *= 17) {
      MPI_Request request;
      for (int p = 0; p < ranks; ++p) {
        places[p] = p * MOST, counts[p] = rank == root && p != rank ? size : 0;
        received[p] = rank != root && p == root ? size : 0;
      }
      MPI_Alltoallv_init(out, counts, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request);
      for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < ranks * MOST; ++i)
          out[i] = block_value(round, rank, i / MOST, i % MOST % ROOM), in[i] = POISON;
        if (rank != root && round % 10 == 3) usleep(500);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < ranks * MOST; ++i) {
          const int data = rank != root && i / MOST == root && i % MOST < size;
          expect(in[i] == (data ? block_value(round, root, rank, i % MOST % ROOM) : POISON), "round %d: %d is %d",
                 round, i, in[i]);
        }
      }
      MPI_Request_free(&request);
    }
  free(out), free(in), free(counts), free(received), free(places);
}

/* 5.13: they match their like only: blocking and started all-to-alls and other collective calls come in between, also while
 * they are active. */
static void among_others(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  FOR_EACH_PLAN(kind, in_place) {
    All x = all_open(comm, kind, PERSISTENT, in_place), y = all_open(comm, kind, BLOCKING, in_place),
        z = all_open(comm, (kind + 1) % KINDS, STARTED, 0);
    for (int round = 0; round < 4; ++round) {
      int one = 1, sum = -1;
      all_fill(&x, round), all_fill(&y, round), all_fill(&z, round);
      if (round % 2) all_begin(&z), all_begin(&x);
      else all_begin(&x), all_begin(&z);
      all_begin(&y);
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      if (round / 2) MPI_Wait(&x.request, MPI_STATUS_IGNORE), MPI_Wait(&z.request, MPI_STATUS_IGNORE);
      else MPI_Wait(&z.request, MPI_STATUS_IGNORE), MPI_Wait(&x.request, MPI_STATUS_IGNORE);
      all_check(&x, round), all_check(&y, round), all_check(&z, round);
      expect(sum == ranks, "the sum is %d", sum);
    }
    all_close(&x), all_close(&y), all_close(&z);
  }
  MPI_Comm_free(&comm);
}

static const Case cases[] = {
    {"inactive", 2, inactive},       {"local", 2, local}, {"together", 1, together},         {"outlive", 1, outlive},
    {"freed-early", 1, freed_early}, {"ahead", 2, ahead}, {"among-others", 1, among_others},
};

int main(int argc, char **argv) { return run_cases(cases, sizeof cases / sizeof *cases, argc, argv); }

#else

int main(int argc, char **argv) { return run_cases(NULL, 0, argc, argv); }

#endif
