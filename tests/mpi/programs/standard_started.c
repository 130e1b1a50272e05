/* What MPI says of all-to-alls that are started and completed later (standard.h). */
#include "standard.h"

/* 5.12: a start is local. One rank starts on a communicator that no call has used, then tells the others, which start
 * only when they hear of it. */
static void local(void) {
  for (int kind = 0; kind < KINDS; ++kind)
    for (int in_place = 0; in_place < 2; ++in_place)
      for (int first = 0; first < ranks; ++first) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int round = 0; round < 2; ++round) {
          All x = all_open(comm, kind, STARTED, in_place);
          all_told(&x, round, first);
          all_close(&x);
        }
        MPI_Comm_free(&comm);
      }
}

/* 5.12: communicators that overlap, pairs in a ring: each rank starts on both of its own, in its own order, and nobody waits
 * for ever. */
static void ring(void) {
  MPI_Comm pair[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  for (int left = 0; left < ranks; ++left) {
    const int right = (left + 1) % ranks, mine = rank == left || rank == right;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, mine ? 0 : MPI_UNDEFINED, rank == left, &comm);
    if (rank == left) pair[0] = comm;
    else if (mine) pair[1] = comm;
  }
  for (int kind = 0; kind < KINDS; ++kind)
    for (int form = STARTED; form < (HAS_PERSISTENT ? FORMS : 2); ++form) {
      All x[2];
      if (form == PERSISTENT) { /* makes wait for each other: in an order without a circle */
        const int first = rank == ranks - 1;
        x[first] = all_open(pair[first], kind, form, 0);
        x[!first] = all_open(pair[!first], kind, form, 0);
      } else {
        x[0] = all_open(pair[0], kind, form, 0), x[1] = all_open(pair[1], kind, form, 0);
      }
      for (int round = 0; round < 4; ++round) {
        all_fill(&x[0], round), all_fill(&x[1], round);
        all_begin(&x[round % 2]), all_begin(&x[!(round % 2)]);
        MPI_Wait(&x[round / 2].request, MPI_STATUS_IGNORE), MPI_Wait(&x[!(round / 2)].request, MPI_STATUS_IGNORE);
        all_check(&x[0], round), all_check(&x[1], round);
      }
      all_close(&x[0]), all_close(&x[1]);
    }
  MPI_Comm_free(&pair[0]), MPI_Comm_free(&pair[1]);
}

/* 5.12, 3.7.5: any function completes them, one or several, in one array with messages, null and inactive requests. */
static void complete(int way, int number, MPI_Request *requests) {
  int index, flag = 0, some, *const which = malloc((size_t)number * sizeof *which);
  MPI_Status *const statuses = malloc((size_t)number * sizeof *statuses);
  switch (way) {
    case 0: MPI_Waitall(number, requests, statuses); break;
    case 1:
      while (MPI_Waitany(number, requests, &index, statuses), index != MPI_UNDEFINED);
      break;
    case 2:
      while (MPI_Waitsome(number, requests, &some, which, statuses), some != MPI_UNDEFINED);
      break;
    case 3:
      while (MPI_Testany(number, requests, &index, &flag, statuses), !flag || index != MPI_UNDEFINED);
      break;
    case 4:
      while (MPI_Testsome(number, requests, &some, which, statuses), some != MPI_UNDEFINED);
      break;
    case 5:
      while (MPI_Testall(number, requests, &flag, statuses), !flag);
      break;
    case 6:
      for (int i = number - 1; i >= 0; --i)
        for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, statuses);
      break;
    case 7:
      for (int i = 0; i < number; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, statuses);
        MPI_Wait(&requests[i], statuses);
      }
      break;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    case 8: /* 3.7.6: these say what is complete, and leave all requests as they are */
      while (MPI_Request_get_status_all(number, requests, &flag, statuses), !flag);
      MPI_Request_get_status_any(number, requests, &index, &flag, statuses);
      expect(flag && index != 1 && index != 3, "request %d is said to be complete", index);
      MPI_Request_get_status_some(number, requests, &some, which, statuses);
      expect(some == number - 2, "%d of %d requests are complete", some, number - 2);
      MPI_Waitall(number, requests, statuses);
      break;
#endif
    default: MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
  }
  free(statuses), free(which);
}

static int grequest_query(void *state, MPI_Status *status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 5);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 3, status->MPI_TAG = 4;
  return MPI_SUCCESS;
}
static int grequest_free(void *state) { return (void)state, MPI_SUCCESS; }
static int grequest_cancel(void *state, int done) { return (void)state, (void)done, MPI_SUCCESS; }

static void completions(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int way = 0; way < 10; ++way)
    for (int kind = 0; kind < KINDS; ++kind) {
      All x[3] = {all_open(comm, kind, STARTED, 0), all_open(MPI_COMM_WORLD, kind, STARTED, 1),
                  all_open(comm, (kind + 1) % KINDS, STARTED, 0)};
      int sent = rank, received = -1, unused;
      MPI_Request requests[9], inactive;
      MPI_Recv_init(&unused, 1, MPI_INT, 0, 9, comm, &inactive);
      for (int i = 0; i < 3; ++i) all_fill(&x[i], way), all_begin(&x[i]);
      requests[0] = x[0].request, requests[1] = MPI_REQUEST_NULL, requests[2] = x[1].request, requests[3] = inactive;
      MPI_Irecv(&received, 1, MPI_INT, (rank + 1) % ranks, 7, comm, &requests[4]);
      MPI_Isend(&sent, 1, MPI_INT, (rank + ranks - 1) % ranks, 7, comm, &requests[5]);
      requests[6] = x[2].request;
      MPI_Ibarrier(comm, &requests[7]);
      MPI_Grequest_start(grequest_query, grequest_free, grequest_cancel, NULL, &requests[8]);
      MPI_Grequest_complete(requests[8]);
      complete(way, 9, requests);
      for (int i = 0; i < 9; ++i)
        expect((requests[i] == MPI_REQUEST_NULL) == (i != 3), "way %d: request %d is not what it should be", way, i);
      for (int i = 0; i < 3; ++i) x[i].request = MPI_REQUEST_NULL, all_check(&x[i], way), all_close(&x[i]);
      expect(received == (rank + 1) % ranks, "the message has %d", received);
      MPI_Request_free(&inactive);
    }
  MPI_Comm_free(&comm);
}

/* 3.2.5, 5.12: the status of a completed one is not cancelled; a wait for one request leaves the field MPI_ERROR alone. */
static void statuses(void) {
  for (int kind = 0; kind < KINDS; ++kind)
    for (int way = 0; way < 2; ++way) {
      All x = all_open(MPI_COMM_WORLD, kind, STARTED, 0);
      MPI_Status status;
      int cancelled = 1, flag = 0;
      memset(&status, 0x55, sizeof status);
      status.MPI_ERROR = 1234;
      all_fill(&x, way), all_begin(&x);
      if (way == 0) MPI_Wait(&x.request, &status);
      else
        while (!flag) MPI_Test(&x.request, &flag, &status);
      MPI_Test_cancelled(&status, &cancelled);
      expect(status.MPI_ERROR == 1234, "MPI_ERROR has become %d", status.MPI_ERROR);
      expect(!cancelled, "it is said to be cancelled");
      all_check(&x, way), all_close(&x);
    }
}

/* 5.12: many may be outstanding on a communicator; ranks complete them in different orders. */
static void outstanding(void) {
  enum { MANY = 70 };
  static All x[MANY];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < MANY; ++i) x[i] = all_open(comm, i % KINDS, STARTED, i / KINDS % 2);
    for (int i = 0; i < MANY; ++i) all_fill(&x[i], i), all_begin(&x[i]);
    for (int i = 0; i < MANY; ++i) MPI_Wait(&x[rank % 2 ? MANY - 1 - i : (i * 3) % MANY].request, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; ++i) all_check(&x[i], i), all_close(&x[i]);
  }
  MPI_Comm_free(&comm);
}

/* 5.12: on the same communicator other collective calls, blocking and not, come in the same order and match their like. */
static void among_others(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int round = 0; round < 6; ++round)
    for (int kind = 0; kind < KINDS; ++kind) {
      All x = all_open(comm, kind, STARTED, round % 2), y = all_open(comm, kind, BLOCKING, 0),
          z = all_open(comm, (kind + 2) % KINDS, STARTED, 0);
      int root = rank == 0 ? 77 : 0, sum = -1, one = 1, last = rank == 0 ? 78 : 0;
      MPI_Request other[2];
      MPI_Comm made;
      all_fill(&x, round), all_fill(&y, round), all_fill(&z, round);
      MPI_Ibcast(&root, 1, MPI_INT, 0, comm, &other[0]);
      all_begin(&x);
      MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
      all_begin(&y);
      all_begin(&z);
      MPI_Ibcast(&last, 1, MPI_INT, 0, comm, &other[1]);
      MPI_Barrier(comm);
      MPI_Comm_dup(comm, &made);
      MPI_Comm_free(&made);
      MPI_Wait(&z.request, MPI_STATUS_IGNORE), MPI_Waitall(2, other, MPI_STATUSES_IGNORE);
      MPI_Wait(&x.request, MPI_STATUS_IGNORE);
      all_check(&x, round), all_check(&y, round), all_check(&z, round);
      expect(root == 77 && last == 78 && sum == ranks, "another collective call has %d, %d, %d", root, last, sum);
      all_close(&x), all_close(&y), all_close(&z);
    }
  MPI_Comm_free(&comm);
}

/* 5.12: communicators may be freed while exchanges on them are outstanding, types too. Open MPI 5.0.11 itself, which serves
 * MPI_Ialltoallw, then ends the program. */
static void freed(void) {
#ifdef OPEN_MPI
  enum { MANY = 6, SERVED = TYPED };
#else
  enum { MANY = 6, SERVED = KINDS };
#endif
  All x[MANY];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < MANY; ++i) {
      MPI_Comm comm;
      if (i % 2) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
      else MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      x[i] = all_open(comm, i % SERVED, STARTED, i >= 3);
      all_fill(&x[i], round), all_begin(&x[i]);
      MPI_Type_free(&x[i].vector);
      MPI_Comm_free(&comm);
    }
    for (int i = MANY - 1; i >= 0; --i) {
      MPI_Wait(&x[i].request, MPI_STATUS_IGNORE);
      all_check(&x[i], round);
      MPI_Type_dup(MPI_INT, &x[i].vector), all_close(&x[i]);
    }
  }
}

/* 3.7, 5.12: a send buffer may be read by several at a time. */
static void shared_buffer(void) {
  All x[4];
  for (int i = 0; i < 4; ++i) x[i] = all_open(MPI_COMM_WORLD, EQUAL, STARTED, 0);
  int *const kept[4] = {x[0].out, x[1].out, x[2].out, x[3].out};
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 4; ++i) all_fill(&x[i], round), x[i].out = kept[0];
    for (int i = 0; i < 4; ++i) all_begin(&x[i]);
    for (int i = 3; i >= 0; --i) MPI_Wait(&x[i].request, MPI_STATUS_IGNORE), all_check(&x[i], round);
    for (int i = 0; i < 4; ++i) x[i].out = kept[i];
  }
  for (int i = 0; i < 4; ++i) all_close(&x[i]);
}

/* 3.5, 5.14: whoever waits for one moves on what else it has started: here collective output of a file. */
static void beside_files(void) {
  MPI_File file;
  for (int order = 0; order < 2; ++order) {
    All x = all_open(MPI_COMM_WORLD, EQUAL, STARTED, 0);
    MPI_Request requests[2];
    char name[100];
    int lead = rank == 0 ? getpid() : 0;
    MPI_Bcast(&lead, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/swapmeet-standard-%d", lead);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    all_fill(&x, order);
    MPI_File_iwrite_at_all(file, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, &requests[order]);
    if (rank > 0) MPI_Wait(&requests[order], MPI_STATUS_IGNORE);
    all_begin(&x);
    requests[!order] = x.request;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    x.request = MPI_REQUEST_NULL;
    all_check(&x, order), all_close(&x);
    MPI_File_close(&file);
  }
}

static const Case cases[] = {
    {"local", 2, local},
    {"ring", 2, ring},
    {"completions", 1, completions},
    {"statuses", 1, statuses},
    {"outstanding", 1, outstanding},
    {"among-others", 1, among_others},
    {"freed", 1, freed},
    {"shared-buffer", 1, shared_buffer},
    {"beside-files", 1, beside_files},
};

int main(int argc, char **argv) { return run_cases(cases, sizeof cases / sizeof *cases, argc, argv); }
