/* Memory between two pages that cannot be touched: reading or writing beyond its end ends the program. */
#ifndef CONFORMANCE_GUARDED_H
#define CONFORMANCE_GUARDED_H

#include <stddef.h>

/** Which end of the memory touches a page that cannot be touched. Up to a page of other memory lies at the other end. */
typedef enum { GUARDED_END, GUARDED_START } GuardedSide;

/** Memory of zeros. Its end is exact with GUARDED_END, so it is aligned as far as `bytes` is a multiple of the alignment;
 *  with GUARDED_START it is aligned to a page. No bytes: an address of which not even one byte can be read.
 *  @return memory for guarded_free(). The program ends if there is none. */
void* guarded_allocate(size_t bytes, GuardedSide side);

/** @param memory  of guarded_allocate(), or NULL */
void guarded_free(void* memory);

#endif
