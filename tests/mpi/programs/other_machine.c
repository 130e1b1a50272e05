/* To be preloaded: this process sees $CORES processors and $PAGES pages of memory, as one in a container of its own may. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long sysconf(int name) {
  static long (*next)(int);
  if (!next) {
    void *const found = dlsym(RTLD_NEXT, "sysconf");
    memcpy(&next, &found, sizeof next);
  }
  const char *const seen = name == _SC_NPROCESSORS_ONLN ? getenv("CORES")
                           : name == _SC_PHYS_PAGES     ? getenv("PAGES")
                                                        : NULL;
  return seen ? atol(seen) : next(name);
}
