/* The groups of cases. Each function runs its group on all ranks. */
#ifndef CONFORMANCE_CASES_H
#define CONFORMANCE_CASES_H

#include "suite.h"

void cases_blocks(Suite* suite);        /* block sizes, type pairs, communicators, in place, MPI_BOTTOM */
void cases_vector(Suite* suite);        /* Alltoallv's counts and displacements */
void cases_typed(Suite* suite);         /* Alltoallw: a type for each block */
void cases_forms(Suite* suite);         /* non-blocking, persistent, planned */
void cases_workload(Suite* suite);      /* Alltoallv's counts as applications and papers have them */
void cases_communicators(Suite* suite); /* lifetimes, attributes, error handlers, intercommunicators */
void cases_traffic(Suite* suite);       /* the user's own messages and progress */
void cases_reuse(Suite* suite);         /* what a cache may confuse: recycled handles, one rank's counts changed */
void cases_random(Suite* suite);        /* seeded combinations of everything above */
void cases_far(Suite* suite);           /* displacements beyond 2 GiB, in address space that is never touched */
void cases_huge(Suite* suite);          /* over 2 GiB of data */

#endif
