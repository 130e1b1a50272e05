/* To be preloaded behind libswapmeet.so: one call that the library makes fails once. fault_arm() says which: a function
 * of MPI by its name without "PMPI_", "malloc", "aligned_alloc", "mmap" or "pthread_create". Calls of others (the
 * program, the MPI itself) do not count. A function of MPI that fails has done nothing; by the name with a "+" it has done its work, whose result is
 * lost; with "*3" the two calls of it after the one that fails do so, too. FAULTS: FAULT() of each function. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library_code.h"

static char armed[64];
static size_t least_bytes;
static atomic_long left, fired;
static long in_a_row;

__attribute__((constructor)) static void begin(void) { find_library(); }

/* The `nth` call from now on fails; of allocations only those for so many bytes count. 0: none. Returns whether the library
 * is there. */
int fault_arm(const char *function, long nth, size_t bytes) {
  left = 0;
  fired = 0;
  snprintf(armed, sizeof armed, "%s", function);
  char *const star = strchr(armed, '*');
  in_a_row = star ? atol(star + 1) : 1;
  if (star) *star = '\0';
  least_bytes = bytes;
  left = nth > 0 ? nth + in_a_row - 1 : 0;
  return library_end != 0;
}

/* How many calls have failed since; the rest are safe. */
long fault_fired(void) {
  left = 0;
  return fired;
}

static int fails(const char *function, const void *caller) {
  const uintptr_t from = (uintptr_t)caller;
  if (left <= 0 || !is_of_library(from) || strcmp(function, armed) != 0) return 0;
  if (atomic_fetch_sub(&left, 1) > in_a_row) return 0;
  ++fired;
  return 1;
}

#ifndef SANITIZED /* else malloc is the sanitizer's */
extern void *__libc_malloc(size_t bytes);

void *malloc(size_t bytes) {
  if (left > 0 && bytes >= least_bytes && fails("malloc", __builtin_return_address(0))) return errno = ENOMEM, NULL;
  return __libc_malloc(bytes);
}

extern void *__libc_memalign(size_t alignment, size_t bytes);

/* Called by the C++ library for working memory (src/buffers/pool.hpp). */
void *aligned_alloc(size_t alignment, size_t bytes) {
  if (left > 0 && bytes >= least_bytes && fails("aligned_alloc", __builtin_return_address(0)))
    return errno = ENOMEM, NULL;
  return __libc_memalign(alignment, bytes);
}
#endif

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (left > 0 && fails("mmap", __builtin_return_address(0))) return errno = ENOMEM, MAP_FAILED;
  return (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  return fails("pthread_create", __builtin_return_address(0)) ? EAGAIN : real(thread, attributes, body, argument);
}

/* Each function by one and the same: it hands on as many words as any of them takes, be they integers or addresses. */
#define WORDS void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j, void *k, void *l

#define FAULT(name)                                                         \
  int fault_##name(WORDS) __asm__("PMPI_" #name);                           \
  int fault_##name(WORDS) {                                                 \
    static int (*real)(WORDS);                                              \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "PMPI_" #name);           \
    if (fails(#name, __builtin_return_address(0))) return MPI_ERR_OTHER;    \
    const int loses_result = fails(#name "+", __builtin_return_address(0)); \
    const int error = real(a, b, c, d, e, f, g, h, i, j, k, l);             \
    return loses_result ? MPI_ERR_OTHER : error;                            \
  }

FAULTS /* of those that the library calls: failing_calls_test.py says which */
