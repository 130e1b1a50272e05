/* What libswapmeet.so says of a call where SWAPMEET_EXPLAIN=1: which algorithm serves it, and why. It says the same
 * only once in a run, so what was said must be remembered. */
#ifndef MEASURE_EXPLAINED_H
#define MEASURE_EXPLAINED_H

#include <stdbool.h>

typedef struct {
  bool vector;           /* said of MPI_Alltoallv, else of MPI_Alltoall */
  long long least, most; /* bytes of the blocks it holds for; -1: it does not say */
  char spec[200], reason[400];
} Explanation;

/* Between the two, what this process writes to standard error is kept back. The second gives it back, but for
 * explanations: the last one is stored. Returns whether there was one. */
void explained_begin(void);
bool explained_end(Explanation* last);

#endif
