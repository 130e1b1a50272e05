/* What the parts of the measuring program share. measure.c says what it is for. */
#ifndef MEASURE_H
#define MEASURE_H

#include <mpi.h>
#include <stdbool.h>

#include "limits.h"

/* All ranks of MPI_COMM_WORLD. */
typedef struct {
  int ranks, rank;
  MPI_Comm node;   /* the ranks that share memory with this one, as the MPI says */
  Limits* meeting; /* a barrier in shared memory; NULL: the ranks are not all on one node, or there is none */
} World;

/* Prints a line of an answer on rank 0, at once. `format` begins with a word that says what the line is. */
void answer(const World* world, const char* format, ...) __attribute__((format(printf, 2, 3)));

#endif
