/* Whether there is memory for what is to be measured, asked before any is allocated; and agreement among ranks. */
#ifndef MEASURE_MEMORY_H
#define MEASURE_MEMORY_H

#include <stdint.h>

#include "measure.h"

/* Whether all ranks say `mine`. Collective. If not, `why` on rank 0 becomes that of the first rank that does not. */
bool agreed(const World* world, bool mine, char* why, size_t why_bytes);

/* Whether the ranks of this node, each of which needs `bytes`, can have twice that together: the buffers, and as much
 * again for the working memory of MPI and the algorithms. Collective; the same answer on all ranks of a node. */
bool memory_suffices(const World* world, int64_t bytes, char* why, size_t why_bytes);

#endif
