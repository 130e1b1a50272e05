/* Communicators of every make, from any other one, with random members in random order. */
#include <stdlib.h>

#include "fuzz.h"
#include "oracle.h"

int draw_slot(Program *program, bool intra) {
  int slot;
  do slot = draw_below(&program->random, SLOTS);
  while (!program->slots[slot].used || (intra && program->slots[slot].inter));
  return slot;
}

/* A number of each rank, such as its colour: drawn by those alone that are asked, so not from the common sequence. */
static int drawn_by_rank(const Program *program, int rank, int limit) {
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

static MPI_Comm ring(MPI_Comm from) {
  int ranks;
  MPI_Comm comm;
  MPI_Comm_size(from, &ranks);
  MPI_Cart_create(from, 1, &ranks, (const int[]){1}, 1, &comm);
  return comm;
}

/* Between the even and the odd ranks of MPI_COMM_WORLD. */
static MPI_Comm between(Suite *suite) {
  MPI_Comm half, comm;
  MPI_Comm_split(MPI_COMM_WORLD, suite->rank % 2, suite->rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - suite->rank % 2, 11, &comm);
  MPI_Comm_free(&half);
  return comm;
}

enum { DUP, IDUP, SPLIT, SPLIT_TYPE, CREATE, CREATE_GROUP, CART, INTER, MAKES };

static MPI_Comm make(const Program *program, int how, MPI_Comm from) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request;
  switch (how) {
    case DUP: MPI_Comm_dup(from, &comm); break;
    case IDUP:
      MPI_Comm_idup(from, &comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case SPLIT_TYPE:
      MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, drawn_by_rank(program, program->suite->rank, 9), MPI_INFO_NULL,
                          &comm);
      break;
    case CREATE: comm = create(program, from, false); break;
    case CREATE_GROUP: comm = create(program, from, true); break;
    case CART: comm = ring(from); break;
    case INTER: comm = between(program->suite); break;
    default: comm = split(program, from);
  }
  return comm;
}

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

void make_communicator(Program *program) {
  static const char *const names[MAKES] = {"dup",    "idup",         "split", "split-type",
                                           "create", "create-group", "cart",  "inter"};
  int slot = 0;
  while (slot < SLOTS && program->slots[slot].used) ++slot;
  int how = draw_below(&program->random, MAKES);
  /* MPICH 5.0.2 and Open MPI 5.0.11 lose 0.3 to 4.5 KiB with each of these, which is freed. */
  if (how == INTER && (program->suite->ranks < 2 || program->soaks)) how = DUP;
  const int from = draw_slot(program, true);
  if (slot == SLOTS) return drop_communicator(program);
  if (how == CREATE_GROUP || how == INTER) wait_for_messages(program, how == INTER ? 0 : from);
  step_is(program, "%s/slot=%d/from=%d", names[how], slot, from);
  Slot made = {.used = true, .inter = how == INTER, .comm = MPI_COMM_NULL};
  if (program->slots[from].comm != MPI_COMM_NULL || how == INTER)
    made.comm = make(program, how, program->slots[from].comm);
  if (made.comm != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(made.comm, MPI_ERRORS_RETURN);
    start_some(program, made.comm);
  }
  program->slots[slot] = made;
}

#ifdef __SANITIZE_ADDRESS__
enum { frees_all = 1 }; /* the rest would be reported as leaks */
#else
enum { frees_all = 0 };
#endif

/* One in eight is left to MPI_Finalize, but where nothing is to be left. */
void drop_communicator(Program *program) {
  const int slot = draw_slot(program, false), how = draw_below(&program->random, 8) + (program->soaks || frees_all);
  MPI_Comm *comm = &program->slots[slot].comm;
  if (slot == 0) return make_communicator(program);
  step_is(program, "%s/slot=%d", how == 0 ? "leak" : how == 1 ? "disconnect" : "free", slot);
  complete_messages(program, slot);
  program->slots[slot].used = false;
  if (*comm == MPI_COMM_NULL || how == 0) return;
  if (how == 1) MPI_Comm_disconnect(comm);
  else MPI_Comm_free(comm);
}

void end_program(Program *program) {
  complete_messages(program, -1);
  for (int slot = 1; slot < SLOTS; ++slot)
    if (program->slots[slot].used && program->slots[slot].comm != MPI_COMM_NULL)
      MPI_Comm_free(&program->slots[slot].comm);
}
