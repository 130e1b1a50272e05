/* Run one exchange: buffers, the call itself, checks. */
#include "exchange.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"

enum { RUNS = 2 };

/* Counts and displacements as the call takes them, and a copy: the call must not change them. */
typedef struct {
  int peers;
  int *counts, *displacements;
  MPI_Count *large_counts;
  MPI_Aint *large_displacements;
  void *memory, *copy;
  size_t bytes;
} Arrays;

/* What is passed for one side. */
typedef struct {
  void *buffer;
  MPI_Datatype type;
  MPI_Count count;
  Arrays arrays;
} Arguments;

bool is_vector(Collective collective) {
#if MPI_VERSION >= 4
  if (collective == ALLTOALLV_C) return true;
#endif
  return collective == ALLTOALLV;
}

bool is_large_count(Collective collective) { return collective > ALLTOALLV; }

const char *collective_name(Collective collective) {
  static const char *const names[] = {"alltoall", "alltoallv", "alltoall_c", "alltoallv_c"};
  return names[collective];
}

const char *exchange_name(const Exchange *exchange, char *name, size_t bytes) {
  static const char *const patterns[PATTERNS] = {"",        "/zero",   "/zero-pairs", "/zero-ranks",
                                                 "/skewed", "/sparse", "/varied"};
  static const char *const placements[PLACEMENTS] = {"dense",      "gaps",       "backwards",  "mixed-order",
                                                     "below-zero", "same-block", "overlapping"};
  const bool placed = exchange->send_placement != DENSE || exchange->recv_placement != DENSE;
  char size[120];
  if (exchange->workload) workload_print(exchange->workload, size, sizeof size);
  else snprintf(size, sizeof size, "%ldB", (long)exchange->block_bytes);
  snprintf(name, bytes, "%s/%s/%s-to-%s/%s%s%s%s%s%s%s%s%s", collective_name(exchange->collective),
           family_name(exchange->send), exchange->in_place ? "in-place" : shape_name(exchange->send),
           shape_name(exchange->recv), size, patterns[exchange->pattern], placed ? "/" : "",
           placed ? placements[exchange->send_placement] : "", placed ? "-to-" : "",
           placed ? placements[exchange->recv_placement] : "", exchange->bottom ? "/bottom" : "",
           exchange->types_by_rank ? "/types-by-rank" : "", exchange->changed_pair ? "/changed-pair" : "");
  return name;
}

static void arrays_open(Arrays *arrays, const Side *side) {
  const int peers = side->group.peers;
  const size_t each = sizeof(MPI_Count) + sizeof(MPI_Aint) + 2 * sizeof(int);
  arrays->peers = peers;
  arrays->bytes = (size_t)peers * each;
  arrays->memory = malloc(arrays->bytes);
  arrays->copy = malloc(arrays->bytes);
  arrays->large_counts = arrays->memory;
  arrays->large_displacements = (MPI_Aint *)(arrays->large_counts + peers);
  arrays->counts = (int *)(arrays->large_displacements + peers);
  arrays->displacements = arrays->counts + peers;
  for (int peer = 0; peer < peers; ++peer) {
    arrays->large_counts[peer] = side->count[peer];
    arrays->large_displacements[peer] = side->displacement[peer];
    arrays->counts[peer] = (int)side->count[peer];
    arrays->displacements[peer] = (int)side->displacement[peer];
  }
  memcpy(arrays->copy, arrays->memory, arrays->bytes);
}

static void arrays_close(Arrays *arrays, Suite *suite) {
  if (arrays->memory && memcmp(arrays->memory, arrays->copy, arrays->bytes) != 0)
    suite_fail(suite, "the call changed the caller's counts or displacements");
  free(arrays->memory);
  free(arrays->copy);
}

/* The type with the buffer's address in it, to be used with MPI_BOTTOM. */
static MPI_Datatype absolute_type(const Side *side) {
  MPI_Aint address;
  MPI_Datatype type;
  MPI_Get_address(side->origin, &address);
  MPI_Type_create_hindexed(1, (const int[]){1}, &address, side->layout.type, &type);
  MPI_Type_commit(&type);
  return type;
}

static Arguments arguments_open(const Side *side, int run) {
  Arguments arguments = {side->origin, side->layout.type, side->count[0], {0}};
  const bool nothing = side->low == side->high;
  if (side->exchange->bottom) {
    arguments.type = absolute_type(side);
    arguments.buffer = MPI_BOTTOM;
  } else if (nothing && run % 2 == 1) {
    arguments.buffer = NULL; /* as good as any address when nothing is moved */
  }
  arrays_open(&arguments.arrays, side);
  return arguments;
}

static void arguments_close(Arguments *arguments, const Side *side, Suite *suite) {
  if (side->exchange->bottom) MPI_Type_free(&arguments->type);
  arrays_close(&arguments->arrays, suite);
}

/* With MPI_IN_PLACE the other send arguments are ignored: some that are plainly wrong, and some that look right. */
static Arguments in_place_arguments(int run) {
  Arguments garbage = {MPI_IN_PLACE, MPI_DATATYPE_NULL, -7, {0}};
  if (run % 2 == 1) {
    garbage.type = MPI_CHAR;
    garbage.count = 1000000;
  }
  return garbage;
}

static int call(Collective collective, const Arguments *send, const Arguments *recv, MPI_Comm comm) {
  const Arrays *s = &send->arrays, *r = &recv->arrays;
  switch (collective) {
    case ALLTOALL:
      return MPI_Alltoall(send->buffer, (int)send->count, send->type, recv->buffer, (int)recv->count, recv->type, comm);
    case ALLTOALLV:
      return MPI_Alltoallv(send->buffer, s->counts, s->displacements, send->type, recv->buffer, r->counts,
                           r->displacements, recv->type, comm);
#if MPI_VERSION >= 4
    case ALLTOALL_C:
      return MPI_Alltoall_c(send->buffer, send->count, send->type, recv->buffer, recv->count, recv->type, comm);
    case ALLTOALLV_C:
      return MPI_Alltoallv_c(send->buffer, s->large_counts, s->large_displacements, send->type, recv->buffer,
                             r->large_counts, r->large_displacements, recv->type, comm);
#endif
    default: return MPI_ERR_ARG;
  }
}

static void run_once(Suite *suite, Side *send, Side *recv, MPI_Comm comm, int run) {
  const bool in_place = recv->exchange->in_place;
  if (!in_place) side_fill(send, run, true);
  side_fill(recv, run, in_place);
  side_expect_received(recv, run);
  Arguments from = in_place ? in_place_arguments(run) : arguments_open(send, run);
  Arguments to = arguments_open(recv, run);

  const int code = call(recv->exchange->collective, &from, &to, comm);
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    suite_fail(suite, "run %d: the call returned %d: %s", run, code, text);
  }
  side_check(recv, suite, run);
  if (!in_place) side_check(send, suite, run);
  if (in_place) arrays_close(&from.arrays, suite);
  else arguments_close(&from, send, suite);
  arguments_close(&to, recv, suite);
}

static Group group_of(MPI_Comm comm) {
  enum { SECOND_GROUP = 1000000 }; /* ids of the group with the odd world ranks, on an intercommunicator */
  Group group = {0, 0, 0};
  int is_inter, world_rank;
  MPI_Comm_test_inter(comm, &is_inter);
  MPI_Comm_rank(comm, &group.me);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (!is_inter) {
    MPI_Comm_size(comm, &group.peers);
  } else {
    MPI_Comm_remote_size(comm, &group.peers);
    if (world_rank % 2 == 1) group.me += SECOND_GROUP;
    else group.first_peer = SECOND_GROUP;
  }
  return group;
}

void exchange_run(Suite *suite, const Exchange *exchange, MPI_Comm comm) {
  const Group group = group_of(comm);
  Side send, recv;
  side_open(&send, exchange, group, true);
  side_open(&recv, exchange, group, false);
  if (!layout_agrees_with_mpi(&send.layout) || !layout_agrees_with_mpi(&recv.layout))
    suite_fail(suite, "the suite's account of a type is not MPI's");
  for (int run = 0; run < RUNS; ++run) run_once(suite, &send, &recv, comm, run);
  side_close(&send);
  side_close(&recv);
}
