/* What one side of a call is given: addresses, counts, displacements and types, as every form of every collective takes
 * them. */
#ifndef CONFORMANCE_ARGUMENTS_H
#define CONFORMANCE_ARGUMENTS_H

#include "side.h"

enum { ARRAYS = 5 };

typedef struct {
  void* buffer;
  MPI_Datatype type; /* of all blocks, but for Alltoallw */
  MPI_Count count;   /* of Alltoall */
  int peers;
  MPI_Count* large_counts; /* each array lies between pages that cannot be touched (guarded.h) */
  MPI_Aint* large_displacements;
  MPI_Datatype* types;
  int *counts, *displacements;
  struct {
    void* memory;
    size_t bytes;
  } arrays[ARRAYS];
  char* copy;         /* of the arrays, one after the other */
  MPI_Datatype* made; /* types that are the call's own, to be freed */
  int number_made;
} Arguments;

/** @param passing  types are made for this call, so that arguments_free_types() may follow before it is complete. */
Arguments arguments_open(const Side* side, int run, bool passing);

/** With MPI_IN_PLACE the other send arguments are ignored: some that are plainly wrong, and some that look right. */
Arguments arguments_in_place(int run);

/** Fail if the call has changed the arrays. */
void arguments_check(const Arguments* arguments, Suite* suite);

void arguments_free_types(Arguments* arguments);

/** Garbage for whoever still reads the arrays. */
void arguments_overwrite(Arguments* arguments);

void arguments_close(Arguments* arguments);

#endif
