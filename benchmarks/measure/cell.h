/* The exchange that is measured: its sizes, its buffers, and what is to be in them. */
#ifndef MEASURE_CELL_H
#define MEASURE_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "measure.h"

/* Counts and places are in items of `type`, which has `unit` bytes of data, the first ones of `extent`. */
typedef struct {
  bool vector; /* MPI_Alltoallv; else MPI_Alltoall, all of whose counts are the same */
  MPI_Datatype type;
  size_t unit, extent;
  int ranks, rank;
  int *send_counts, *receive_counts, *send_places, *receive_places;
  size_t send_span, receive_span;     /* bytes of all blocks and the gaps in them */
  char *send, *receive;               /* on page boundaries */
  char *send_memory, *receive_memory; /* the same, with the guards before and behind */
  uint64_t salt;                      /* of the data of the last check */
} Cell;

/* Makes the exchange that the words of a command are about. Collective. Returns NULL on all ranks if it cannot be;
 * `why` (on rank 0) then says why. Nothing is allocated before all nodes are known to have the memory: for the buffers,
 * and as much again for the working memory of MPI and the algorithms. */
Cell* cell_make(const World* world, const char* collective, const char* sizes, const char* seed, const char* datatype,
                char* why, size_t why_bytes);
void cell_free(Cell* cell);

/* Writes data into the send buffer that differ from those of the last time, and poison that differs from what is
 * expected, in every byte, into all that is received and around it. */
void cell_fill(Cell* cell);

/* Whether exactly what is expected has arrived, and nothing else has been written; if not, `report` says what is first
 * wrong: source, destination, byte of the block. Local. */
bool cell_verify(const Cell* cell, char* report, size_t report_bytes);

/* Rewrites the send buffer with `value`. */
void cell_touch(const Cell* cell, int value);

/* Bytes of the mean block of all ranks, rounded up. Collective. */
size_t cell_mean_block(const Cell* cell);

#endif
