/* What a program may ask of a driver (device_driver.h), of a real GPU by its vendor's. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_driver.h"

enum { most_allocations = 64, attach_global = 1 };
static int (*initialize)(unsigned), (*get_device)(int *, int), (*retain)(void **, int), (*set_current)(void *);
static int (*allocate)(uintptr_t *, size_t), (*allocate_managed)(uintptr_t *, size_t, unsigned);
static int (*release)(uintptr_t), (*copy)(uintptr_t, uintptr_t, size_t), (*synchronize)(void);
static uintptr_t allocations[most_allocations];
static int allocated;

static void must(int error, const char *what) {
  if (error) fprintf(stderr, "%s: CUDA's error %d\n", what, error), abort();
}

void device_start(void) {
  const struct {
    void *function;
    const char *name;
  } wanted[] = {
      {&initialize, "cuInit"},           {&get_device, "cuDeviceGet"}, {&retain, "cuDevicePrimaryCtxRetain"},
      {&set_current, "cuCtxSetCurrent"}, {&allocate, "cuMemAlloc_v2"}, {&allocate_managed, "cuMemAllocManaged"},
      {&release, "cuMemFree_v2"},        {&copy, "cuMemcpy"},          {&synchronize, "cuCtxSynchronize"}};
  void *const library = dlopen("libcuda.so.1", RTLD_NOW), *context;
  int device;
  if (!library) fprintf(stderr, "%s\n", dlerror()), abort();
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i)
    if (!(*(void **)wanted[i].function = dlsym(library, wanted[i].name))) abort();
  must(initialize(0), "cuInit");
  must(get_device(&device, 0), "cuDeviceGet");
  must(retain(&context, device), "cuDevicePrimaryCtxRetain");
  must(set_current(context), "cuCtxSetCurrent");
}

char *device_allocate(size_t bytes, int managed) {
  uintptr_t memory;
  if (allocated == most_allocations) abort();
  must(managed ? allocate_managed(&memory, bytes, attach_global) : allocate(&memory, bytes), "cuMemAlloc");
  allocations[allocated++] = memory;
  return (char *)memory;
}

void device_free_all(void) {
  while (allocated) must(release(allocations[--allocated]), "cuMemFree");
}

void device_copy(void *to, const void *from, size_t bytes) {
  must(copy((uintptr_t)to, (uintptr_t)from, bytes), "cuMemcpy");
  must(synchronize(), "cuCtxSynchronize");
}

/* A real driver counts no copies; but the CPU cannot touch its memory, so what is right was copied. */
int device_copies(void) { return 1; }
