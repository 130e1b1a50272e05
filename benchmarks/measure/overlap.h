/* Non-blocking exchanges while the ranks compute, as OSU's and IMB's benchmarks do it: gives the whole answer to its
 * command. */
#ifndef MEASURE_OVERLAP_H
#define MEASURE_OVERLAP_H

#include "candidates.h"

enum { MOST_TESTS = 100000 };

/* Times `calls` exchanges that are started and waited for; as much computing; and exchanges with that computing between
 * start and wait, cut into equal parts by `tests` calls of MPI_Test. Answers "overlap PURE COMPUTING OVERLAPPED START
 * TESTING WAIT": seconds a call, means over calls and ranks; the last three are parts of OVERLAPPED. All meet before each
 * exchange, untimed. Collective.
 *
 * Source: osu_ialltoall of the OSU micro-benchmarks 7; IMB-NBC, Ialltoall, of the Intel MPI benchmarks 2021. */
void answer_overlap(const World* world, Candidates* all, int candidate, const Cell* cell, int calls, int tests);

#endif
