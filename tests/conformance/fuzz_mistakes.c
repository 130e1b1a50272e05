/* A call of which one rank gives a larger count than the others. Nobody may hang or take wrong data for right; what
 * follows on the communicator is right. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "oracle.h"

/* Algorithms in which ranks forward what others send: each message has a length, which tells. */
static const char *const specs[] = {
    "bruck(radix=2)",
    "bruck(radix=3,layout=modified)",
    "bruck(radix=2,window=all,complete=any)",
    "bruck(radix=2,layout=zero-copy,pack=datatype)",
    "bruck(dims=2d,radix=all)",
    "direct(order=shift,window=2)",
};

static int item(int version, int source, int destination, int index) {
  return (int)(oracle_key((uint64_t)(1000 * version + index), source, destination) % 1000000007);
}

/* @return the class of its error */
static int exchange(const Program *program, MPI_Comm comm, int count, int mine, int version, int wrong) {
  int rank, ranks, class, bad = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const size_t items = (size_t)ranks * (size_t)mine;
  int *const sent = malloc(items * sizeof *sent), *const received = malloc(items * sizeof *received);
  memset(received, 0xff, items * sizeof *received);
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < mine; ++k) sent[peer * mine + k] = item(version, rank, peer, k);
  suite_come_late(program->suite, SELDOM);
  MPI_Error_class(MPI_Alltoall(sent, mine, MPI_INT, received, mine, MPI_INT, comm), &class);
  for (int peer = 0; peer < ranks && rank != wrong; ++peer)
    for (int k = 0; k < count; ++k) bad += received[peer * mine + k] != item(version, peer, rank, k);
  if (class == MPI_SUCCESS && bad > 0)
    suite_fail(program->suite, "%d integers are wrong, without an error, where rank %d has another count", bad, wrong);
  free(sent);
  free(received);
  return class;
}

void make_mistake(Program *program) {
  Random *const random = &program->random;
  const int slot = draw_slot(program, true), count = 1 + draw_below(random, 16), wrong = draw_below(random, 8);
  const char *const spec = specs[draw_below(random, (int)(sizeof specs / sizeof specs[0]))];
  const MPI_Comm from = program->slots[slot].comm;
  int ranks, rank, code = MPI_SUCCESS;
  MPI_Comm comm;
  step_is(program, "mistake/slot=%d/%s", slot, spec);
  if (from == MPI_COMM_NULL) return;
  MPI_Comm_size(from, &ranks);
  MPI_Comm_rank(from, &rank);
  MPI_Comm_dup(from, &comm);
  if (set_algorithm(comm, spec, &code) && code == MPI_SUCCESS && ranks > 1) {
    for (int call = 0; call < 4; ++call) {
      const bool mistaken = call == 2;
      const int by = mistaken ? wrong % ranks : -1;
      const int class = exchange(program, comm, count, rank == by ? 2 * count : count, call, by);
      if (!mistaken && class != MPI_SUCCESS)
        suite_fail(program->suite, "call %d has an error of class %d", call, class);
    }
  }
  MPI_Comm_free(&comm);
}
