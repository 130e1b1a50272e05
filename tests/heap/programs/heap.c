/* Allocations of all kinds, of which the large ones come from the heap if it is preloaded: every byte is checked.
 * The first argument says what: calls, sizes, threads N (operations of each of four threads), fork, closed (as fork, where
 * the program has closed all descriptors), exec, daemon, library FILE (which frees and allocates for us), invalid PAGE
 * (free of a page of a block), twice (free of what is free), ordinary (nothing comes from the heap), grow, kept (memory
 * that is free goes back). Prints "heap: right". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
  int32_t process, file;
  uint64_t random, base;
};
struct functions {
  _Bool (*find)(const void *, struct place *, uint64_t *);
};

enum { LARGE = 256 << 10 };

static void must(int right, const char *what) {
  if (right) return;
  dprintf(2, "heap: wrong: %s\n", what);
  abort();
}

static int in_heap(const void *block) {
  const struct functions *(*heap)(void);
  *(void **)&heap = dlsym(RTLD_DEFAULT, "swapmeet_heap_functions");
  struct place place;
  uint64_t bytes;
  return heap && heap()->find(block, &place, &bytes);
}

static void fill(void *block, size_t bytes, unsigned seed) {
  unsigned char *to = block;
  for (size_t k = 0; k < bytes; k += 61) to[k] = (unsigned char)(seed + k);
  if (bytes) to[bytes - 1] = (unsigned char)seed;
}
static int holds(const void *block, size_t bytes, unsigned seed) {
  const unsigned char *from = block;
  for (size_t k = 0; k + 1 < bytes; k += 61)
    if (from[k] != (unsigned char)(seed + k)) return 0;
  return bytes == 0 || from[bytes - 1] == (unsigned char)seed;
}
static int is_zero(const unsigned char *block, size_t bytes) {
  for (size_t k = 0; k < bytes; ++k)
    if (block[k]) return 0;
  return 1;
}

/* Large is served by the heap, small is not. */
static void calls(void) {
  void *block = NULL;
  must(!in_heap(malloc(LARGE - 1)) && in_heap(block = malloc(LARGE)), "malloc");
  must(malloc_usable_size(block) >= LARGE && (uintptr_t)block % 16 == 0, "malloc_usable_size");
  memset(block, 1, malloc_usable_size(block));
  free(block);
  for (int again = 0; again < 3; ++again) {
    unsigned char *zero = calloc(LARGE / 8, 8);
    must(in_heap(zero) && is_zero(zero, LARGE), "calloc");
    memset(zero, 0xa5, LARGE);
    free(zero);
  }
  for (size_t alignment = 8; alignment <= 8 << 20; alignment *= 2) {
    void *all[4];
    must(posix_memalign(&all[0], alignment, 3 * LARGE + 5) == 0, "posix_memalign");
    must((all[1] = memalign(alignment, LARGE)) && (all[2] = aligned_alloc(alignment, 16 << 20)), "aligned");
    must((all[3] = valloc(LARGE)) != NULL, "valloc");
    for (int i = 0; i < 4; ++i)
      must(in_heap(all[i]) && (uintptr_t)all[i] % (i < 3 ? alignment : 4096) == 0, "an alignment");
    for (int i = 0; i < 4; ++i) fill(all[i], LARGE, i + (unsigned)alignment);
    for (int i = 0; i < 4; ++i) must(holds(all[i], LARGE, i + (unsigned)alignment), "blocks overlap"), free(all[i]);
  }
  char *text = malloc(100);
  fill(text, 100, 7);
  must((text = realloc(text, 3 * LARGE)) && in_heap(text) && holds(text, 100, 7), "to large");
  fill(text, 3 * LARGE, 9);
  must((text = realloc(text, 5 * LARGE)) && in_heap(text) && holds(text, 3 * LARGE, 9), "larger");
  fill(text, LARGE + 3, 11);
  must((text = realloc(text, LARGE + 3)) && in_heap(text) && holds(text, LARGE + 3, 11), "smaller");
  fill(text, 50, 13);
  must((text = realloc(text, 50)) && !in_heap(text) && holds(text, 50, 13), "to small");
  free(text);
  /* which the allocator may give as many bytes as a large one has, by its alignment or whole pages */
  must(posix_memalign(&block, 32 << 10, LARGE - 100) == 0 && !in_heap(block), "small and aligned");
  fill(block, LARGE - 100, 15);
  must((block = realloc(block, LARGE)) && in_heap(block) && holds(block, LARGE - 100, 15), "from small to large");
  free(block);
  must(in_heap(block = realloc(malloc(LARGE - 1), LARGE)), "from the largest small one to the smallest large one");
  free(block);
  must(realloc(malloc(LARGE), 0) == NULL, "realloc to nothing");
  must(in_heap(block = realloc(NULL, LARGE)), "realloc of nothing");
  errno = 5;
  free(block);
  must(errno == 5, "errno");
  free(NULL);
}

/* What cannot be had, or asked for, is as without us. */
static void sizes(void) {
  volatile size_t most = SIZE_MAX, half = SIZE_MAX / 2;
  void *kept = (void *)&most, *block = malloc(LARGE);
  must(!malloc(most) && errno == ENOMEM && !malloc(half + 2) && !calloc(half, 3) && !calloc(most, most), "too much");
  volatile size_t wraps = ((size_t)1 << 46) + 1;
  must(!calloc(wraps, 2 * LARGE), "a product that is 512 KiB if nobody looks");
  errno = 0;
  must(!realloc(block, most) && errno == ENOMEM && malloc_usable_size(block) >= LARGE, "realloc of too much");
  must(!malloc((size_t)1 << 47), "more than there is");
  must(posix_memalign(&kept, 24, LARGE) == EINVAL && posix_memalign(&kept, 4, LARGE) == EINVAL && kept == (void *)&most,
       "24");
  must(posix_memalign(&kept, 64, most - 100) == ENOMEM, "posix_memalign of too much");
  void *odd = memalign(24, LARGE);
  must(odd && (uintptr_t)odd % 32 == 0, "glibc rounds such an alignment up");
  free(odd);
  must(!aligned_alloc((size_t)1 << 62, LARGE), "an alignment beyond all");
  free(block);
  free(calloc(0, LARGE)), free(malloc(0));
}

static void *work(void *argument) {
  enum { BLOCKS = 24 };
  const long operations = *(long *)argument;
  struct {
    void *block;
    size_t bytes;
    unsigned seed;
  } all[BLOCKS] = {{0}};
  uint64_t random = (uintptr_t)&all | 1;
  for (long k = 0; k < operations; ++k) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const unsigned i = (random >> 33) % BLOCKS, what = (random >> 40) % 8;
    const size_t large = (random >> 43) % 16 == 0 ? LARGE / 2 + (random >> 20) % (3 * LARGE) : 0;
    const size_t bytes = large ? large : 1 + (random >> 20) % 2000;
    must(!all[i].block || holds(all[i].block, all[i].bytes, all[i].seed), "a byte");
    void *block = NULL;
    if (what == 0 && all[i].block) {
      block = realloc(all[i].block, bytes);
      must(block && (((unsigned char *)block)[0] == (unsigned char)all[i].seed || all[i].bytes == 0), "realloc");
    } else {
      free(all[i].block);
      if (what == 1) must(posix_memalign(&block, (size_t)16 << (random >> 50) % 12, bytes) == 0, "posix_memalign");
      else if (what == 2) must((block = calloc(1, bytes)) && is_zero(block, bytes), "calloc");
      else block = malloc(bytes);
      must(block != NULL, "malloc");
    }
    must(large < LARGE || in_heap(block), "a large block");
    all[i].block = block, all[i].bytes = bytes, all[i].seed = (unsigned)(random >> 8);
    fill(block, bytes, all[i].seed);
  }
  for (int i = 0; i < BLOCKS; ++i) free(all[i].block);
  return NULL;
}

static void threads(long operations) {
  pthread_t all[4];
  for (int i = 0; i < 4; ++i) must(pthread_create(&all[i], NULL, work, &operations) == 0, "pthread_create");
  for (int i = 0; i < 4; ++i) pthread_join(all[i], NULL);
}

static int ended_well(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Parent and child write, neither sees what the other has written; grandchildren, too. */
static void forks(int levels, size_t sparse_bytes) {
  enum { BLOCKS = 3 };
  char *all[BLOCKS], *sparse = calloc(1, sparse_bytes);
  for (int i = 0; i < BLOCKS; ++i)
    must((all[i] = malloc((i + 1) * LARGE)) != NULL, "malloc"), fill(all[i], (i + 1) * LARGE, i);
  sparse[12345678] = 3;
  int to_child[2], to_parent[2];
  must(pipe(to_child) == 0 && pipe(to_parent) == 0, "pipe");
  char byte;
  const pid_t child = fork();
  if (child == 0) {
    close(to_child[1]);
    must(read(to_child[0], &byte, 1) == 0, "a pipe");  // the parent has written
    for (int i = 0; i < BLOCKS; ++i)
      must(holds(all[i], (i + 1) * LARGE, i), "the child sees what its parent has written");
    must(sparse[12345678] == 3 && sparse[0] == 0, "a block of which little is touched");
    for (int i = 0; i < BLOCKS; ++i)
      must(!in_heap(all[i]), "others may map what a child has"), fill(all[i], (i + 1) * LARGE, 50 + i);
    void *more = malloc(LARGE);
    must(more && !in_heap(more), "a child has no heap");
    close(to_parent[1]);
    must((all[0] = realloc(all[0], 5 * LARGE)) && all[0][0] == 50, "realloc in the child");
    for (int i = 0; i < BLOCKS; ++i) free(all[i]);
    free(sparse);
    if (levels > 1) forks(levels - 1, sparse_bytes);
    _exit(0);
  }
  for (int i = 0; i < BLOCKS; ++i) fill(all[i], (i + 1) * LARGE, 90 + i);
  close(to_child[1]), close(to_parent[1]);
  must(read(to_parent[0], &byte, 1) == 0, "a pipe");
  for (int i = 0; i < BLOCKS; ++i)
    must(holds(all[i], (i + 1) * LARGE, 90 + i), "the parent sees what its child has written");
  must(ended_well(child), "the child");
  for (int i = 0; i < BLOCKS; ++i) free(all[i]);
  free(sparse);
  close(to_child[0]), close(to_parent[0]);
}

static void *allocate_meanwhile(void *over) {
  while (!__atomic_load_n((int *)over, __ATOMIC_RELAXED)) free(malloc(LARGE + 5));
  return NULL;
}

/* While another thread allocates. */
static void forks_of_threads(void) {
  int over = 0;
  pthread_t other;
  must(pthread_create(&other, NULL, allocate_meanwhile, &over) == 0, "pthread_create");
  for (int i = 0; i < 20; ++i) forks(1, 16 << 20);
  over = 1;
  pthread_join(other, NULL);
}

static void becomes_daemon(void) {
  char *block = malloc(LARGE);
  fill(block, LARGE, 8);
  must(daemon(1, 1) == 0 && holds(block, LARGE, 8) && !in_heap(block), "daemon");
  free(block);
}

static void library(const char *file) {
  void *(*allocate)(size_t), (*release)(void *);
  void *loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  must(loaded != NULL, "dlopen");
  *(void **)&allocate = dlsym(loaded, "allocate"), *(void **)&release = dlsym(loaded, "release");
  char *ours = malloc(LARGE), *theirs = allocate(LARGE);
  must(in_heap(ours) && in_heap(theirs), "what a library allocates");
  release(ours), free(theirs);
  theirs = allocate(LARGE);
  dlclose(loaded);
  fill(theirs, LARGE, 1), free(theirs);
}

static size_t resident(const void *base, size_t bytes) {
  unsigned char *pages = mmap(NULL, bytes / 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t count = 0;
  must(mincore((void *)base, bytes, pages) == 0, "mincore");
  for (size_t k = 0; k < bytes / 4096; ++k) count += pages[k] & 1;
  munmap(pages, bytes / 4096);
  return count * 4096;
}

static void kept(void) {
  enum { BLOCKS = 40, BYTES = 8 << 20 };
  char *all[BLOCKS];
  for (int i = 0; i < BLOCKS; ++i) memset(all[i] = malloc(BYTES), 1, BYTES);
  char *const last = malloc(LARGE);
  for (int i = 0; i < BLOCKS; i += 2) free(all[i]);
  for (int i = 1; i < BLOCKS; i += 2) free(all[i]);
  must(resident(all[0], (size_t)BLOCKS * BYTES) <= (size_t)64 << 20, "memory that is free is not given back");
  char *again = calloc(BLOCKS, BYTES);
  must(again == all[0] && is_zero((unsigned char *)again, (size_t)BLOCKS * BYTES), "free neighbours do not become one");
  free(again), free(last);
  /* what was given back is zero, and what is freed behind it is not */
  char *const large = malloc(40 << 20), *const small = malloc(LARGE), *const behind = malloc(LARGE);
  memset(large, 1, 40 << 20), memset(small, 1, LARGE);
  free(large), free(small);
  again = calloc((40 << 20) + LARGE, 1);
  must(again == large && is_zero((unsigned char *)again, (40 << 20) + LARGE), "calloc of both");
  free(again), free(behind);
}

static void grows(void) {
  size_t moved = 0, bytes = LARGE;
  char *block = malloc(bytes), *other[200];
  for (int i = 0; i < 200; ++i) {
    char *before = block;
    fill(block, bytes, i);
    must((block = realloc(block, bytes += LARGE)) && in_heap(block) && block[61] == (char)(i + 61), "realloc");
    moved += block != before;
    other[i] = malloc(bytes);  // which stands in the way
  }
  must(moved < 30, "what grows moves each time");
  for (int i = 0; i < 200; ++i) free(other[i]);
  free(block);
  /* into a gap that is too small, before a block in use */
  char *first = malloc(LARGE), *const gap = malloc(LARGE), *const third = malloc(LARGE);
  must(gap == first + LARGE && third == gap + LARGE, "blocks that follow one another");
  fill(third, LARGE, 3);
  free(gap);
  must((first = realloc(first, 3 * LARGE)) != NULL, "realloc");
  fill(first, 3 * LARGE, 1);
  must(holds(third, LARGE, 3), "a block that grows takes another");
  free(first), free(third);
}

static void ordinary(void) {
  void *block = malloc(LARGE), *zero = calloc(1, LARGE);
  must(!in_heap(block) && !in_heap(zero), "it comes from the heap");
  free(block), free(zero);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "calls";
  if (!strcmp(what, "calls")) calls();
  if (!strcmp(what, "sizes")) sizes();
  if (!strcmp(what, "threads")) threads(atol(argv[2]));
  if (!strcmp(what, "fork")) forks(3, (size_t)1 << 30), forks_of_threads();
  if (!strcmp(what, "closed")) {
    free(malloc(LARGE));
    closefrom(3);
    forks(2, 16 << 20);
  }
  if (!strcmp(what, "daemon")) becomes_daemon();
  if (!strcmp(what, "library")) library(argv[2]);
  if (!strcmp(what, "kept")) kept();
  if (!strcmp(what, "grow")) grows();
  if (!strcmp(what, "invalid")) free((char *)malloc(LARGE) + 4096 * atol(argv[2]));
  if (!strcmp(what, "twice")) {
    void *before = malloc(LARGE), *block = malloc(LARGE);
    free(before), free(block), free(block);
  }
  if (!strcmp(what, "ordinary")) ordinary();
  if (!strcmp(what, "exec")) {
    char *block = malloc(LARGE);
    must(in_heap(block), "a block");
    memset(block, 1, LARGE);
    execl(argv[0], argv[0], "calls", NULL);
  }
  puts("heap: right");
  return 0;
}
