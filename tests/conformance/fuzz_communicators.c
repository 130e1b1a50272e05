/* Communicators of every make, from any other one, with random members in random order. */
#include <stdlib.h>

#include "fuzz.h"
#include "oracle.h"

int draw_slot(Program *program, bool intra) {
  int slot;
  do slot = draw_below(&program->random, SLOTS);
  while (!program->slots[slot].used || program->slots[slot].pending || (intra && program->slots[slot].inter));
  return slot;
}

int drawn_by_rank(const Program *program, int rank, int limit) {
  return (int)(oracle_key(program->random.seed + program->random.drawn, rank, limit) % (uint64_t)limit);
}

static MPI_Comm split(const Program *program, MPI_Comm from) {
  MPI_Comm comm;
  const int rank = program->suite->rank, colours = 1 + drawn_by_rank(program, -1, program->suite->ranks);
  const int colour = drawn_by_rank(program, rank, colours + 1), key = drawn_by_rank(program, rank, 100) - 50;
  MPI_Comm_split(from, colour == colours ? MPI_UNDEFINED : colour, key, &comm);
  return comm;
}

/* A group of some ranks in any order; in `only_they` without the others' help. */
static MPI_Comm create(const Program *program, MPI_Comm from, bool only_they) {
  int ranks, members = 0;
  MPI_Group all, some;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_size(from, &ranks);
  int *ranks_of = malloc((size_t)ranks * sizeof *ranks_of);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank > 0 && drawn_by_rank(program, rank, 4) == 0) continue;
    const int other = drawn_by_rank(program, 100 + rank, members + 1);
    ranks_of[members] = members == other ? rank : ranks_of[other];
    ranks_of[other] = rank;
    ++members;
  }
  MPI_Comm_group(from, &all);
  MPI_Group_incl(all, members, ranks_of, &some);
  int mine;
  MPI_Group_rank(some, &mine);
  if (!only_they) MPI_Comm_create(from, some, &comm);
  else if (mine != MPI_UNDEFINED) MPI_Comm_create_group(from, some, 5, &comm);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  free(ranks_of);
  return comm;
}

static MPI_Comm ring(const Program *program, MPI_Comm from) {
  int ranks;
  (void)program;
  MPI_Comm comm;
  MPI_Comm_size(from, &ranks);
  MPI_Cart_create(from, 1, &ranks, (const int[]){1}, 1, &comm);
  return comm;
}

/* Each rank has its neighbours of the ring in another order. */
static MPI_Comm graph(const Program *program, MPI_Comm from) {
  int rank, ranks;
  MPI_Comm comm;
  (void)program;
  MPI_Comm_rank(from, &rank);
  MPI_Comm_size(from, &ranks);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  const int in[] = {left, right}, out[] = {right, left}, weights[] = {1, 1};
  MPI_Dist_graph_create_adjacent(from, 2, in, weights, 2, out, weights, MPI_INFO_NULL, 0, &comm);
  return comm;
}

/* Between the even and the odd ranks of MPI_COMM_WORLD; of a thread, of its duplicate. */
static MPI_Comm between(const Program *program, MPI_Comm from) {
  const int parity = program->suite->rank % 2;
  MPI_Comm half, comm, all = program->slots[0].comm;
  (void)from;
  MPI_Comm_split(all, parity, program->suite->rank, &half);
  MPI_Intercomm_create(half, 0, all, 1 - parity, 11, &comm);
  MPI_Comm_free(&half);
  return comm;
}

static MPI_Comm merged(const Program *program, MPI_Comm from) {
  MPI_Comm halves = between(program, from), comm;
  MPI_Intercomm_merge(halves, program->suite->rank % 2, &comm);
  MPI_Comm_free(&halves);
  return comm;
}

static MPI_Comm duplicate(const Program *program, MPI_Comm from) {
  MPI_Comm comm;
  (void)program;
  MPI_Comm_dup(from, &comm);
  return comm;
}

static MPI_Comm duplicate_later(const Program *program, MPI_Comm from) {
  MPI_Comm comm;
  MPI_Request request;
  (void)program;
  MPI_Comm_idup(from, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return comm;
}

static MPI_Comm split_type(const Program *program, MPI_Comm from) {
  MPI_Comm comm;
  MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, drawn_by_rank(program, program->suite->rank, 9), MPI_INFO_NULL,
                      &comm);
  return comm;
}

static MPI_Comm create_by_all(const Program *program, MPI_Comm from) { return create(program, from, false); }
static MPI_Comm create_by_some(const Program *program, MPI_Comm from) { return create(program, from, true); }

static const struct {
  const char *name;
  MPI_Comm (*make)(const Program *program, MPI_Comm from);
} makes[] = {
    {"dup", duplicate},
    {"idup", duplicate_later},
    {"split", split},
    {"split-type", split_type},
    {"create", create_by_all},
    {"create-group", create_by_some},
    {"cart", ring},
    {"inter", between},
    {"graph", graph},
    {"merge", merged},
};
enum { DUP, IDUP, CREATE_GROUP = 5, INTER = 7, PLAIN_MAKES, MERGE, MAKES };

/* The first few exchanges that are started on a communicator are the host MPI's: half of them get these here. */
static void start_some(const Program *program, MPI_Comm comm) {
  int ranks, inter;
  MPI_Request request;
  MPI_Comm_test_inter(comm, &inter);
  if (inter || drawn_by_rank(program, -1, 2) == 0) return;
  MPI_Comm_size(comm, &ranks);
  char *bytes = calloc(2 * (size_t)ranks, 1);
  for (int i = 0; i < 4; ++i) {
    MPI_Ialltoall(bytes, 1, MPI_CHAR, bytes + ranks, 1, MPI_CHAR, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(bytes);
}

/* What MPI_Comm_create_group and MPI_Intercomm_create send would meet receives of the program for any source and tag, of
 * ranks that are behind, too (Open MPI 5.0.11, with the tag that they are given). */
static void wait_for_messages(Program *program, int slot) {
  complete_messages(program, slot);
  if (program->slots[slot].comm != MPI_COMM_NULL) MPI_Barrier(program->slots[slot].comm);
}

/* The first call on a third of the communicators is a small MPI_Alltoall, which may be served in a way of its own. */
static void settle(Program *program, int slot) {
  const MPI_Comm comm = program->slots[slot].comm;
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (program->episode->kind == PLAIN || drawn_by_rank(program, -2, 3) > 0) return start_some(program, comm);
  const TypeId type = type_find("int/basic");
  const Exchange small = {.send = type, .recv = type, .block_bytes = 8, .seed = program->random.seed};
  run_exchanges(program, &small, &slot, 1);
}

void complete_idups(Program *program) {
  for (int k = 0; k < SLOTS; ++k) {
    Slot *const slot = &program->slots[k];
    if (!slot->pending) continue;
    slot->pending = false;
    if (slot->making == MPI_REQUEST_NULL) continue;
    MPI_Wait(&slot->making, MPI_STATUS_IGNORE);
    settle(program, k);
  }
}

void make_communicator(Program *program) {
  const Episode *const episode = program->episode;
  int slot = 0;
  while (slot < SLOTS && program->slots[slot].used) ++slot;
  int how = draw_below(&program->random, episode->kind == PLAIN ? PLAIN_MAKES : MAKES);
  if (episode->idups && draw_below(&program->random, 2) == 0) how = IDUP;
  /* MPICH 5.0.2 and Open MPI 5.0.11 lose 0.3 to 4.5 KiB with each of these, which is freed. */
  const bool in_halves = how == INTER || how == MERGE;
  if (in_halves && (program->suite->ranks < 2 || episode->soaks)) how = DUP;
  const int from = draw_slot(program, true);
  if (slot == SLOTS) return drop_communicator(program);
  if (how == CREATE_GROUP || how == INTER || how == MERGE) wait_for_messages(program, how == CREATE_GROUP ? from : 0);
  step_is(program, "%s/slot=%d/from=%d", makes[how].name, slot, from);
  Slot *const made = &program->slots[slot];
  const MPI_Comm parent = program->slots[from].comm;
  *made = (Slot){.used = true, .inter = how == INTER, .comm = MPI_COMM_NULL, .making = MPI_REQUEST_NULL};
  made->pending = how == IDUP && episode->idups;
  if (parent == MPI_COMM_NULL && how != INTER && how != MERGE) return;
  if (made->pending) MPI_Comm_idup(parent, &made->comm, &made->making);
  else made->comm = makes[how].make(program, parent);
  if (!made->pending) settle(program, slot);
}

void duplicate_beside(Program *program) {
  enum { MOST = 8 };
  const int slot = draw_slot(program, true);
  const MPI_Comm from = program->slots[slot].comm;
  const TypeId type = type_find("int/basic");
  Exchange small = {.send = type, .recv = type, .block_bytes = 8, .seed = program->random.seed};
  MPI_Comm made[MOST];
  MPI_Request making[MOST];
  if (!program->episode->idups) return exchange_one(program);
  step_is(program, "duplicate-beside/slot=%d", slot);
  if (from == MPI_COMM_NULL) return;
  for (int k = 0; k < MOST; ++k) {
    MPI_Comm_idup(from, &made[k], &making[k]);
    run_exchanges(program, &small, &slot, 1);
  }
  small.form = exchange_started_form(false, false);
  run_exchanges(program, &small, &slot, 1);
  MPI_Waitall(MOST, making, MPI_STATUSES_IGNORE);
  for (int k = 0; k < 3 * MOST; ++k) {
    small.form = k % 3 == 0 ? BLOCKING : exchange_started_form(k % 3 == 1, false);
    exchange_run(program->suite, &small, made[k / 3]);
  }
  for (int k = 0; k < MOST; ++k) MPI_Comm_free(&made[k]);
}

void make_anew(Program *program) {
  MPI_Comm *const comm = &program->slots[0].comm, made;
  step_is(program, "anew");
  complete_idups(program);
  complete_messages(program, 0);
  end_exchanges(program, 0, false);
  free_requests(program, 0);
  MPI_Comm_dup(*comm, &made);
  MPI_Comm_free(comm);
  *comm = made;
}

#ifdef __SANITIZE_ADDRESS__
enum { frees_all = 1 }; /* the rest would be reported as leaks */
#else
enum { frees_all = 0 };
#endif

/* One in eight is left to MPI_Finalize, but where nothing is to be left. */
void drop_communicator(Program *program) {
  complete_idups(program);
  const int slot = draw_slot(program, false);
  const int how = draw_below(&program->random, 8) + (program->episode->soaks || frees_all);
  MPI_Comm *comm = &program->slots[slot].comm;
  if (slot == 0) return make_communicator(program);
  step_is(program, "%s/slot=%d", how == 0 ? "leak" : how == 1 ? "disconnect" : "free", slot);
  complete_messages(program, slot);
  end_exchanges(program, slot, how < 4);
  free_requests(program, slot);
  program->slots[slot].used = false;
  if (*comm == MPI_COMM_NULL || how == 0) return;
  if (how == 1) MPI_Comm_disconnect(comm);
  else MPI_Comm_free(comm);
}

void end_program(Program *program) {
  complete_messages(program, -1);
  end_exchanges(program, -1, true);
  free_requests(program, -1);
  complete_idups(program);
  for (int slot = 1; slot < SLOTS; ++slot)
    if (program->slots[slot].used && program->slots[slot].comm != MPI_COMM_NULL)
      MPI_Comm_free(&program->slots[slot].comm);
}
