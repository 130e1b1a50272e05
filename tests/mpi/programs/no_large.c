/* To be preloaded behind libswapmeet.so: the library gets no memory for requests above 64 KiB, which its reserve does not
 * serve (src/buffers/reserve.cpp). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "library_code.h"

extern void *__libc_malloc(size_t bytes);

__attribute__((constructor)) static void begin(void) { find_library(); }

void *malloc(size_t bytes) {
  if (bytes > 64 << 10 && is_of_library((uintptr_t)__builtin_return_address(0))) return errno = ENOMEM, NULL;
  return __libc_malloc(bytes);
}
