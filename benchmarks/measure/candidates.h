/* What is compared: the host MPI, and algorithms of libswapmeet.so. */
#ifndef MEASURE_CANDIDATES_H
#define MEASURE_CANDIDATES_H

#include "cell.h"

enum { MOST_CANDIDATES = 4096, TEXT = 400 };

typedef struct Candidates Candidates;

/* Looks for the host MPI, and for libswapmeet.so. Collective. */
Candidates* candidates_begin(const World* world);
void candidates_end(Candidates* all);

/* The number of a new candidate: a spec, "auto" or "native". Collective. -1 on all ranks: the library does not take it,
 * and `why` says why. */
int candidates_add(Candidates* all, const char* spec, char* why, size_t why_bytes);

int candidates_count(const Candidates* all);
bool candidates_is_native(const Candidates* all, int candidate);

/* The communicator of a candidate's calls. */
MPI_Comm candidates_comm(const Candidates* all, int candidate);

/* From now on another exchange is measured. */
void candidates_new_cell(Candidates* all);

/* Makes the library ready for calls of this candidate, by a call that is not to be timed. Collective. */
void candidates_select(Candidates* all, int candidate, const Cell* cell);

/* A call of the candidate that was selected last. Collective. */
void candidates_call(const Candidates* all, int candidate, const Cell* cell);

/* Starts the same without blocking, on that communicator; to be completed by MPI_Wait or MPI_Test. Collective. */
void candidates_start(const Candidates* all, int candidate, const Cell* cell, MPI_Request* request);

/* What was executed in the first call of `candidate` in this cell: a spec, "native", or "?" if that cannot be told.
 * Only on rank 0. `reason` is the library's, and may be empty. */
const char* candidates_ran(const Candidates* all, int candidate, const char** reason);

#endif
