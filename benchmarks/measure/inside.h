/* What libswapmeet.so can tell of a call from inside, if it can; and what no exchange can beat. Each gives the whole
 * answer to its command. */
#ifndef MEASURE_INSIDE_H
#define MEASURE_INSIDE_H

#include "candidates.h"

/* Seconds per call by phase on each rank. Collective. */
void answer_phases(const World* world, Candidates* all, int candidate, const Cell* cell, int calls);

/* Traces one call into a file. Collective. */
void answer_trace(const World* world, Candidates* all, int candidate, const Cell* cell, const char* file);

/* The limits of limits.h for as many bytes as `cell` moves. Collective. */
void answer_limits(const World* world, const Cell* cell);

#endif
