/* Arguments, with a copy of the arrays: the call must not change them. */
#include "arguments.h"

#include <stdlib.h>
#include <string.h>

#include "guarded.h"

static void *make_array(Arguments *arguments, int which, size_t item_bytes, GuardedSide guarded) {
  const size_t bytes = (size_t)arguments->peers * item_bytes;
  arguments->arrays[which].bytes = bytes;
  return arguments->arrays[which].memory = guarded_allocate(bytes, guarded);
}

static void make_arrays(Arguments *arguments, int peers, GuardedSide guarded) {
  arguments->peers = peers;
  arguments->large_counts = make_array(arguments, 0, sizeof *arguments->large_counts, guarded);
  arguments->large_displacements = make_array(arguments, 1, sizeof *arguments->large_displacements, guarded);
  arguments->types = make_array(arguments, 2, sizeof *arguments->types, guarded);
  arguments->counts = make_array(arguments, 3, sizeof *arguments->counts, guarded);
  arguments->displacements = make_array(arguments, 4, sizeof *arguments->displacements, guarded);
}

static void set_arrays(Arguments *arguments, const Side *side) {
  for (int peer = 0; peer < side->group.peers; ++peer) {
    arguments->large_counts[peer] = side->count[peer];
    arguments->large_displacements[peer] = side->displacement[peer];
    arguments->counts[peer] = (int)side->count[peer];
    arguments->displacements[peer] = (int)side->displacement[peer];
  }
}

static void copy_arrays(Arguments *arguments) {
  size_t bytes = 0;
  for (int which = 0; which < ARRAYS; ++which) bytes += arguments->arrays[which].bytes;
  free(arguments->copy);
  char *next = arguments->copy = malloc(bytes + 1);
  for (int which = 0; which < ARRAYS; ++which) {
    memcpy(next, arguments->arrays[which].memory, arguments->arrays[which].bytes);
    next += arguments->arrays[which].bytes;
  }
}

static MPI_Datatype made(Arguments *arguments, MPI_Datatype type) {
  MPI_Type_commit(&type);
  return arguments->made[arguments->number_made++] = type;
}

/* The type with an address in it, to be used with MPI_BOTTOM. */
static MPI_Datatype absolute(Arguments *arguments, const void *at, MPI_Datatype relative) {
  MPI_Aint address;
  MPI_Datatype type;
  MPI_Get_address(at, &address);
  MPI_Type_create_hindexed(1, (const int[]){1}, &address, relative, &type);
  return made(arguments, type);
}

static MPI_Datatype passed_type(Arguments *arguments, const Side *side, const Layout *layout, bool passing) {
  MPI_Datatype type;
  if (side->exchange->bottom) return absolute(arguments, side->origin, layout->type);
  if (!passing || !layout->owned) return layout->type;
  MPI_Type_dup(layout->type, &type);
  return made(arguments, type);
}

/* Whether the host MPI, which serves what has one rank, takes MPI_DATATYPE_NULL for blocks without items. Open
 * MPI does not. */
static bool null_types_allowed(void) {
  static int allowed = -1;
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  const int zero = 0;
  char byte[2];
  if (allowed < 0)
    allowed = MPI_Alltoallw(byte, &zero, &zero, &none, byte + 1, &zero, &zero, &none, MPI_COMM_SELF) == MPI_SUCCESS;
  return allowed;
}

/* Alltoallw's. Absolute types hold the displacements too, on every other rank. */
static void set_types(Arguments *arguments, const Side *side, int run, bool passing) {
  const bool displaced = side->exchange->bottom && side->group.me % 2 == 0;
  for (int peer = 0; peer < side->group.peers; ++peer) {
    const Layout *layout = side_layout(side, peer);
    if (side->count[peer] == 0 && (peer + run) % 2 == 0 && null_types_allowed()) {
      arguments->types[peer] = MPI_DATATYPE_NULL;
    } else if (displaced && side->count[peer] > 0) {
      arguments->types[peer] = absolute(arguments, side->origin + side_offset(side, peer), layout->type);
      arguments->displacements[peer] = 0;
      arguments->large_displacements[peer] = 0;
    } else if (side->exchange->types_by_peer || peer == 0) {
      arguments->types[peer] = passed_type(arguments, side, layout, passing);
    } else {
      arguments->types[peer] = arguments->type;
    }
  }
}

Arguments arguments_open(const Side *side, int run, bool passing) {
  Arguments arguments = {.buffer = side->exchange->bottom ? MPI_BOTTOM : side->origin, .count = side->count[0]};
  /* As good as any address when nothing is moved. */
  if (!side->exchange->bottom && side->low == side->high && run % 2 == 1) arguments.buffer = NULL;
  make_arrays(&arguments, side->group.peers,
              (side->exchange->seed + (uint64_t)run) % 4 == 0 ? GUARDED_START : GUARDED_END);
  set_arrays(&arguments, side);
  arguments.made = malloc(((size_t)side->group.peers + 1) * sizeof *arguments.made);
  arguments.type = passed_type(&arguments, side, side->layouts, passing);
  if (has_types(side->exchange->collective)) set_types(&arguments, side, run, passing);
  copy_arrays(&arguments);
  return arguments;
}

Arguments arguments_in_place(int run) {
  Arguments garbage = {.buffer = MPI_IN_PLACE, .type = MPI_DATATYPE_NULL, .count = -7};
  if (run % 2 == 0) return garbage; /* all arrays are NULL */
  garbage.type = MPI_CHAR;
  garbage.count = 1000000;
  make_arrays(&garbage, 0, GUARDED_END); /* not even one byte of them can be read */
  return garbage;
}

void arguments_check(const Arguments *arguments, Suite *suite) {
  const char *next = arguments->copy;
  for (int which = 0; next && which < ARRAYS; ++which) {
    if (memcmp(arguments->arrays[which].memory, next, arguments->arrays[which].bytes) != 0)
      suite_fail(suite, "the call changed the caller's counts, displacements or types");
    next += arguments->arrays[which].bytes;
  }
}

void arguments_free_types(Arguments *arguments) {
  while (arguments->number_made > 0) MPI_Type_free(&arguments->made[--arguments->number_made]);
}

void arguments_overwrite(Arguments *arguments) {
  if (!arguments->copy) return;
  for (int which = 0; which < ARRAYS; ++which)
    memset(arguments->arrays[which].memory, 0x7b, arguments->arrays[which].bytes);
  copy_arrays(arguments);
}

void arguments_close(Arguments *arguments) {
  arguments_free_types(arguments);
  for (int which = 0; which < ARRAYS; ++which) guarded_free(arguments->arrays[which].memory);
  free(arguments->made);
  free(arguments->copy);
}
