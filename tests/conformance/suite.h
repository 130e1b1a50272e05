/* The harness: which cases run, and how ranks agree on passed, failed, skipped. */
#ifndef CONFORMANCE_SUITE_H
#define CONFORMANCE_SUITE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char* only;   /* run cases whose name contains this; NULL: all */
  const char* except; /* none whose name contains it; NULL: all others */
  bool list;          /* print the names, run nothing */
  bool huge;          /* add the cases that need gigabytes */
  uint64_t seed;
  int random_cases;
} Options;

typedef struct {
  Options options;
  MPI_Comm comm; /* the suite's own duplicate of MPI_COMM_WORLD: no case uses it for what it tests */
  int rank, ranks;
  int passed, failed, skipped;    /* counted on rank 0 */
  uint64_t late;                  /* where the delays of this rank are drawn from; 0: it has none */
  bool case_failed, case_skipped; /* failed: on this rank; skipped: the same on every rank */
  char name[640];
  char message[512];
} Suite;

void suite_open(Suite* suite, const Options* options);

/** Print the summary line and free what the suite made. @return the process's exit status. */
int suite_close(Suite* suite);

/** Start a case. @return false where it shall not run. If true, suite_end() must follow on every rank. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool suite_begin(Suite* suite, const char* format, ...);

/** Mark the case as failed on this rank; the first message is kept. Other ranks need not fail. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void suite_fail(Suite* suite, const char* format, ...);

/** Mark the case as not applicable. Every rank must decide alike. */
void suite_skip(Suite* suite, const char* reason);

enum { SELDOM = 40, OFTEN = 2 };

/** Wait for up to some milliseconds, one time in so many, if the suite has delays: each rank draws its own. */
void suite_come_late(Suite* suite, int one_in);

/** Tell rank 0 the outcome of the case, which counts and prints it. Collective over all ranks. */
void suite_end(Suite* suite);

#endif
