/* A library that is loaded later: it allocates, and frees what others have allocated. */
#include <stdlib.h>

void *allocate(size_t bytes) { return malloc(bytes); }
void release(void *block) { free(block); }
