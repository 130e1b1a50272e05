/* Stands in for the drivers of devices: what the library asks of libcuda, libhsa-runtime64 and libze_loader, by
 * whichever of these names it is loaded. The memory of its device is memory that the CPU may not touch, a second
 * mapping of which it knows; what is copied to it arrives only when somebody waits for that. */
#define _GNU_SOURCE
#include "device_driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { arena_bytes = 1 << 24 };
static char *arena, *mapped_again; /* the former: half of it for the device alone, the other half for the host too */
static size_t allocated[2];
static int contexts, copies;
static struct {
  char *to, *data;
  size_t bytes;
} arriving;

void device_start(void) {
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, arena_bytes)) abort();
  mapped_again = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  arena = mmap(NULL, arena_bytes, PROT_NONE, MAP_SHARED, file, 0);
  if (arena == MAP_FAILED || mapped_again == MAP_FAILED) abort();
  if (mprotect(arena + arena_bytes / 2, arena_bytes / 2, PROT_READ | PROT_WRITE)) abort();
  close(file);
}

char *device_allocate(size_t bytes, int managed) {
  char *const memory = arena + (managed ? arena_bytes / 2 : 0) + allocated[managed];
  allocated[managed] += (bytes + 255) / 256 * 256;
  if (allocated[managed] > arena_bytes / 2) abort();
  return memory;
}

void device_free_all(void) { allocated[0] = allocated[1] = 0; }

int device_copies(void) { return copies; }

static int within(const void *address) {
  return arena && (const char *)address >= arena && (const char *)address < arena + arena_bytes;
}

static int managed(const void *address) { return (const char *)address >= arena + arena_bytes / 2; }

static void *reachable(const void *address) {
  return within(address) ? mapped_again + ((const char *)address - arena) : (void *)address;
}

void device_copy(void *to, const void *from, size_t bytes) { memcpy(reachable(to), reachable(from), bytes); }

/* --- CUDA --- */

enum { invalid_value = 1, not_initialized = 3, invalid_context = 201 };

int cuPointerGetAttribute(void *value, int attribute, uintptr_t pointer) {
  if (!arena) return not_initialized;
  if (!within((void *)pointer)) return invalid_value;
  if (attribute == 1) *(void **)value = &contexts;
  if (attribute == 2) *(unsigned *)value = 2;
  if (attribute == 8) *(unsigned *)value = managed((void *)pointer);
  return 0;
}

int cuCtxPushCurrent_v2(void *context) { return contexts += context == &contexts, 0; }
int cuCtxPopCurrent_v2(void **context) { return *context = &contexts, --contexts, 0; }

int cuMemcpy(uintptr_t to, uintptr_t from, size_t bytes) {
  ++copies;
  if (contexts == 0 || arriving.data) return invalid_context;
  if (!within((void *)to)) return device_copy((void *)to, (void *)from, bytes), 0;
  arriving.to = (char *)to, arriving.bytes = bytes;
  arriving.data = memcpy(malloc(bytes + 1), reachable((void *)from), bytes);
  return 0;
}

int cuStreamSynchronize(void *stream) {
  if (arriving.data) device_copy(arriving.to, arriving.data, arriving.bytes);
  free(arriving.data);
  arriving.data = NULL;
  return stream != NULL;
}

/* --- ROCm --- */

struct info {
  uint32_t size;
  int type;
  void *agent_base, *host_base;
  size_t bytes;
  void *user_data;
  uint64_t owner;
  uint32_t flags;
};

enum { gpu = 77, cpu };

int hsa_amd_pointer_info(const void *address, struct info *info, void *allocate, uint32_t *count,
                         uint64_t **accessible) {
  (void)allocate, (void)count, (void)accessible;
  if (!arena) return 0x100B;
  if (info->size != sizeof *info) return 0x1001;
  info->type = within(address);
  info->owner = within(address) ? (managed(address) ? cpu : gpu) : 0;
  return 0;
}

int hsa_agent_get_info(uint64_t agent, int attribute, void *value) {
  if ((agent != cpu && agent != gpu) || attribute != 17) return 0x1001;
  *(int *)value = agent == gpu;
  return 0;
}

int hsa_memory_copy(void *to, const void *from, size_t bytes) { return ++copies, device_copy(to, from, bytes), 0; }

/* --- Level Zero --- */

int zeDriverGet(uint32_t *count, void **drivers) {
  (void)drivers;
  return arena ? (*count = 1, 0) : 0x78000001;
}
