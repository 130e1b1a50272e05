/* What a process holds: memory, files, threads. It is to be the same after a thousand calls and after a million. */
#ifndef CONFORMANCE_FOOTPRINT_H
#define CONFORMANCE_FOOTPRINT_H

#include "suite.h"

typedef struct {
  long heap_bytes;     /* allocated and not freed */
  long resident_bytes; /* of the process, shared memory too */
  long maps, files, threads;
  long shared_files; /* of /dev/shm, by the library in this process */
} Footprint;

Footprint footprint(void);

/** Take the least of each into `least`. Moments differ: what stays is what all of them have. */
void footprint_least(Footprint* least, const Footprint* now);
extern const Footprint footprint_most;

/** Fail for what has grown from `before` to `after` by more than the MPI and the allocator need for `calls` all-to-alls. */
void footprint_compare(Suite* suite, const Footprint* before, const Footprint* after, long calls);

/** Print a line. */
void footprint_print(const char* when, const Footprint* footprint);

#endif
