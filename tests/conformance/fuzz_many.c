/* Small exchanges started by the hundred with nothing in between: what several threads start, and move on, must not
 * depend on who comes first. */
#include <stdlib.h>

#include "fuzz.h"
#include "oracle.h"

typedef struct {
  Form form;
  MPI_Request request;
  int *sent, *received; /* one integer for each rank */
} Small;

static int item(const Program *program, int number, int source, int destination) {
  return (int)(oracle_key(program->random.seed + (uint64_t)number, source, destination) % 1000000007);
}

static void open_small(Small *one, Form form, int ranks, MPI_Comm comm) {
  *one = (Small){form, MPI_REQUEST_NULL, NULL, NULL};
  one->sent = calloc((size_t)ranks, sizeof *one->sent);
  one->received = calloc((size_t)ranks, sizeof *one->received);
#if HAS_PERSISTENT
  if (form == PERSISTENT)
    MPI_Alltoall_init(one->sent, 1, MPI_INT, one->received, 1, MPI_INT, comm, MPI_INFO_NULL, &one->request);
#else
  (void)comm;
#endif
}

static void close_small(Small *one) {
  if (one->request != MPI_REQUEST_NULL) MPI_Request_free(&one->request);
  free(one->sent);
  free(one->received);
}

static void start_small(Small *one, MPI_Comm comm) {
  if (one->form == PERSISTENT) MPI_Start(&one->request);
  else if (one->form == NONBLOCKING)
    MPI_Ialltoall(one->sent, 1, MPI_INT, one->received, 1, MPI_INT, comm, &one->request);
  else MPI_Alltoall(one->sent, 1, MPI_INT, one->received, 1, MPI_INT, comm);
}

void start_many(Program *program) {
  const int rounds = program->episode->kind == THREADED ? 100 : 20;
  const int slot = draw_slot(program, true), number = 2 + draw_below(&program->random, TOGETHER - 1);
  const bool backwards = draw_below(&program->random, 2) == 0;
  const MPI_Comm comm = program->slots[slot].comm;
  Small all[TOGETHER];
  int rank, ranks, wrong = 0;
  step_is(program, "start-many=%d/slot=%d", number, slot);
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int k = 0; k < number; ++k)
    open_small(&all[k], exchange_started_form(drawn_by_rank(program, -1 - k, 4) == 0, false), ranks, comm);
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < number; ++k)
      for (int peer = 0; peer < ranks; ++peer)
        all[k].sent[peer] = item(program, round * number + k, rank, peer), all[k].received[peer] = -1;
    for (int k = 0; k < number; ++k) start_small(&all[k], comm);
    for (int k = 0; k < number; ++k) MPI_Wait(&all[backwards ? number - 1 - k : k].request, MPI_STATUS_IGNORE);
    for (int k = 0; k < number; ++k)
      for (int peer = 0; peer < ranks; ++peer)
        wrong += all[k].received[peer] != item(program, round * number + k, peer, rank);
  }
  program->all_to_alls += (long)rounds * number;
  if (wrong > 0) suite_fail(program->suite, "%d integers are wrong", wrong);
  for (int k = 0; k < number; ++k) close_small(&all[k]);
}
