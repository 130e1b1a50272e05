/* An allocator of somebody else: it gives memory, and never takes it back. */
#include <stddef.h>
#include <string.h>

static char memory[64 << 20] __attribute__((aligned(64)));
static size_t used;

void *malloc(size_t bytes) {
  if (bytes > sizeof memory - 64 || used > sizeof memory - 64 - bytes) return NULL;
  void *block = memory + used;
  used += (bytes + 63) / 64 * 64;
  return block;
}
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *block, size_t bytes) {
  char *moved = malloc(bytes);
  if (moved && block) memcpy(moved, block, bytes);
  return moved;
}
void free(void *block) { (void)block; }
