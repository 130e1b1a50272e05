/* What no exchange inside one node can beat: the time to copy its bytes, and to hand a flag from core to core. */
#ifndef LIMITS_H
#define LIMITS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Limits Limits;

/* Maps one shared segment of about ranks * ranks * `most` bytes. Collective over `comm`, which must be one node's.
 * Returns NULL on all ranks if it cannot be had; `why` (on rank 0) then says why.
 * While something is measured here, rank i runs on core i, in turn: flags and blocks do pass from core to core. */
Limits* limits_begin(MPI_Comm comm, size_t most, char* why, size_t why_bytes);

/* Cores that the ranks may use together; `pin`: from now on rank i runs on core i of them only, counted in turn.
 * Collective. */
int limits_cores(MPI_Comm comm, bool pin);

/* Seconds that all ranks take, each at the same time, to copy `ranks` blocks of `block` bytes from `send` to `receive`.
 * The least of two upper bounds: from the first start to the last end; and all ranks' own times, added up, over the
 * cores (the longest of them where each rank has a core). The mean of `calls`. Collective. */
double limits_copy(Limits* l, char* receive, const char* send, size_t block, int calls);

/* The same for blocks in shared memory, one from each rank, which that rank has written anew before each copy; writing
 * is not timed. */
double limits_copy_shared(Limits* l, char* receive, size_t block, int calls);

/* Seconds that a flag takes from rank 0 to rank 1: half a round trip. The mean of `calls` round trips. Collective. */
double limits_flag(Limits* l, int calls);

/* A barrier in shared memory, which gives the core away when it has to wait. Collective. */
void limits_barrier(Limits* l);

/* Frees. Collective. */
void limits_end(Limits* l);

#endif
