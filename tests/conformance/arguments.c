/* Arguments, with a copy of the arrays: the call must not change them. */
#include "arguments.h"

#include <stdlib.h>
#include <string.h>

static void make_arrays(Arguments *arguments, const Side *side) {
  const int peers = side->group.peers;
  const size_t each = sizeof(MPI_Count) + sizeof(MPI_Aint) + sizeof(MPI_Datatype) + 2 * sizeof(int);
  arguments->peers = peers;
  arguments->bytes = (size_t)peers * each;
  arguments->memory = calloc(1, arguments->bytes);
  arguments->large_counts = arguments->memory;
  arguments->large_displacements = (MPI_Aint *)(arguments->large_counts + peers);
  arguments->types = (MPI_Datatype *)(arguments->large_displacements + peers);
  arguments->counts = (int *)(arguments->types + peers);
  arguments->displacements = arguments->counts + peers;
  for (int peer = 0; peer < peers; ++peer) {
    arguments->large_counts[peer] = side->count[peer];
    arguments->large_displacements[peer] = side->displacement[peer];
    arguments->counts[peer] = (int)side->count[peer];
    arguments->displacements[peer] = (int)side->displacement[peer];
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
  make_arrays(&arguments, side);
  arguments.made = malloc(((size_t)side->group.peers + 1) * sizeof *arguments.made);
  arguments.type = passed_type(&arguments, side, side->layouts, passing);
  if (has_types(side->exchange->collective)) set_types(&arguments, side, run, passing);
  arguments.copy = malloc(arguments.bytes);
  memcpy(arguments.copy, arguments.memory, arguments.bytes);
  return arguments;
}

Arguments arguments_in_place(int run) {
  Arguments garbage = {.buffer = MPI_IN_PLACE, .type = MPI_DATATYPE_NULL, .count = -7};
  if (run % 2 == 1) {
    garbage.type = MPI_CHAR;
    garbage.count = 1000000;
  }
  return garbage;
}

void arguments_check(const Arguments *arguments, Suite *suite) {
  if (arguments->memory && memcmp(arguments->memory, arguments->copy, arguments->bytes) != 0)
    suite_fail(suite, "the call changed the caller's counts, displacements or types");
}

void arguments_free_types(Arguments *arguments) {
  while (arguments->number_made > 0) MPI_Type_free(&arguments->made[--arguments->number_made]);
}

void arguments_overwrite(Arguments *arguments) {
  if (!arguments->memory) return;
  memset(arguments->memory, 0x7b, arguments->bytes);
  memset(arguments->copy, 0x7b, arguments->bytes);
}

void arguments_close(Arguments *arguments) {
  arguments_free_types(arguments);
  free(arguments->made);
  free(arguments->memory);
  free(arguments->copy);
}
