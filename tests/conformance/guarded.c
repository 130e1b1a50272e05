/* A page for the length, one that cannot be touched, the memory, another one that cannot be touched. All lie in one
 * reserved range, which is one mapping again when all are freed: the soak test counts the mappings of a process. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "guarded.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t range_bytes = (size_t)1 << 30;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *range;
static size_t used_bytes; /* from its start; nothing is used again before all is free */
static int allocations;

static void expect(int works, const char *what) {
  if (works) return;
  perror(what);
  abort();
}

static unsigned char *reserve(void *at, size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
  void *const reserved = mmap(at, bytes, PROT_NONE, flags, -1, 0);
  expect(reserved != MAP_FAILED, "guarded: mmap");
  return reserved;
}

static unsigned char *take(size_t bytes) {
  pthread_mutex_lock(&lock);
  if (!range) range = reserve(NULL, range_bytes);
  unsigned char *const taken = bytes <= range_bytes - used_bytes ? range + used_bytes : NULL;
  if (taken) used_bytes += bytes, ++allocations;
  pthread_mutex_unlock(&lock);
  return taken ? taken : reserve(NULL, bytes);
}

static void give(unsigned char *taken, size_t bytes) {
  if ((uintptr_t)taken - (uintptr_t)range >= range_bytes) {
    expect(munmap(taken, bytes) == 0, "guarded: munmap");
    return;
  }
  pthread_mutex_lock(&lock);
  reserve(taken, bytes);
  if (--allocations == 0) used_bytes = 0;
  pthread_mutex_unlock(&lock);
}

void *guarded_allocate(size_t bytes, GuardedSide side) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page, all = room + 3 * page;
  unsigned char *const taken = take(all), *const memory = taken + 2 * page;
  expect(mprotect(taken, page, PROT_READ | PROT_WRITE) == 0, "guarded: mprotect");
  expect(room == 0 || mprotect(memory, room, PROT_READ | PROT_WRITE) == 0, "guarded: mprotect");
  *(size_t *)taken = all;
  return side == GUARDED_END ? memory + (room - bytes) : memory;
}

void guarded_free(void *memory) {
  if (!memory) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  unsigned char *const taken = (unsigned char *)memory - (uintptr_t)memory % page - 2 * page;
  give(taken, *(size_t *)taken);
}
