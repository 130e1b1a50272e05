#define _GNU_SOURCE
#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 128, SPINS = 2000, YIELDS = 5000, PAGE = 4096 }; /* LINE: two lines, as cores fetch them in pairs */

typedef struct {
  _Alignas(LINE) atomic_uint arrived;
  _Alignas(LINE) atomic_uint generation;
  _Alignas(LINE) atomic_uint flag[2][LINE / sizeof(atomic_uint)]; /* of ranks 0 and 1: only its first is used */
} Control;

typedef struct {
  _Alignas(LINE) double begin, end;
} Times;

struct Limits {
  int ranks, rank, cores;
  cpu_set_t usual, placed; /* where this rank may run, and where it is measured: rank i on core i of all, in turn */
  MPI_Comm comm;
  Control *control;
  Times *times; /* one a rank */
  char *slots;  /* one a rank, of slot_bytes */
  size_t slot_bytes, bytes;
  double clock; /* seconds that reading the clock takes */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t); /* the same for all processes */
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits until `*word` is `value`: spins, then yields, then sleeps, so that whoever works has the core. */
static void await(atomic_uint *word, unsigned value) {
  for (long tries = 0; atomic_load_explicit(word, memory_order_acquire) != value; ++tries) {
    if (tries < SPINS) continue;
    if (tries < SPINS + YIELDS) {
      sched_yield();
    } else {
      nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
  }
}

void limits_barrier(Limits *l) {
  Control *c = l->control;
  const unsigned generation = atomic_load_explicit(&c->generation, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel) + 1 == (unsigned)l->ranks) {
    atomic_store_explicit(&c->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&c->generation, generation + 1, memory_order_release);
  } else {
    await(&c->generation, generation + 1);
  }
}

static void begin(Limits *l) {
  if (!CPU_EQUAL(&l->usual, &l->placed)) sched_setaffinity(0, sizeof l->placed, &l->placed);
  limits_barrier(l);
}

/* What rank 0 has measured. */
static double end(const Limits *l, double seconds) {
  if (!CPU_EQUAL(&l->usual, &l->placed)) sched_setaffinity(0, sizeof l->usual, &l->usual);
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, l->comm);
  return seconds;
}

/* What one stretch that all ranks have timed took, of `times`. */
static double shortest_account(const Limits *l) {
  double first = l->times[0].begin, last = l->times[0].end, sum = 0, longest = 0;
  for (int i = 0; i < l->ranks; ++i) {
    const Times *t = &l->times[i];
    if (t->begin < first) first = t->begin;
    if (t->end > last) last = t->end;
    if (t->end - t->begin > longest) longest = t->end - t->begin;
    sum += t->end - t->begin;
  }
  const double span = last - first, work = l->ranks > l->cores ? sum / l->cores : longest;
  const double least = (span < work ? span : work) - l->clock;
  return least > 0 ? least : 0;
}

double limits_copy(Limits *l, char *receive, const char *send, size_t block, int calls) {
  begin(l);
  l->times[l->rank].begin = now();
  for (int i = 0; i < calls; ++i) {
    for (int k = 0; k < l->ranks; ++k) memcpy(receive + (size_t)k * block, send + (size_t)k * block, block);
    atomic_signal_fence(memory_order_seq_cst); /* every copy is made */
  }
  l->times[l->rank].end = now();
  limits_barrier(l);
  return end(l, l->rank == 0 ? shortest_account(l) / calls : 0);
}

double limits_copy_shared(Limits *l, char *receive, size_t block, int calls) {
  double seconds = 0;
  begin(l);
  for (int i = 0; i < calls; ++i) {
    memset(l->slots + (size_t)l->rank * l->slot_bytes, i, (size_t)l->ranks * block);
    limits_barrier(l);
    l->times[l->rank].begin = now();
    for (int k = 0; k < l->ranks; ++k)
      memcpy(receive + (size_t)k * block, l->slots + (size_t)k * l->slot_bytes + (size_t)l->rank * block, block);
    l->times[l->rank].end = now();
    limits_barrier(l);
    if (l->rank == 0) seconds += shortest_account(l); /* others cannot pass the next barrier meanwhile */
  }
  return end(l, seconds / calls);
}

double limits_flag(Limits *l, int calls) {
  begin(l);
  atomic_uint *own = &l->control->flag[l->rank & 1][0], *other = &l->control->flag[!(l->rank & 1)][0];
  const double start_time = now();
  if (l->rank < 2) {
    const unsigned start = atomic_load_explicit(own, memory_order_relaxed);
    for (unsigned i = 1; i <= (unsigned)calls; ++i) {
      if (l->rank == 1) await(other, start + i);
      atomic_store_explicit(own, start + i, memory_order_release);
      if (l->rank == 0) await(other, start + i);
    }
  }
  const double seconds = (now() - start_time) / calls / 2;
  limits_barrier(l);
  return end(l, seconds);
}

/* All cores of the ranks' (some MPIs pin each rank), of which `*own` gets the one of this rank. */
static int cores(MPI_Comm comm, cpu_set_t *own) {
  cpu_set_t mine, all;
  int rank = 0, core = -1;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, comm);
  MPI_Comm_rank(comm, &rank);
  for (int left = rank % CPU_COUNT(&all); left >= 0;) left -= CPU_ISSET(++core, &all) ? 1 : 0;
  CPU_ZERO(own);
  CPU_SET(core, own);
  return CPU_COUNT(&all);
}

int limits_cores(MPI_Comm comm, bool pin) {
  cpu_set_t own;
  const int all = cores(comm, &own);
  if (pin) sched_setaffinity(0, sizeof own, &own);
  return all;
}

/* The segment, or MAP_FAILED with errno set. Rank 0 makes it, each rank reserves its own part (page faults in a full
 * /dev/shm kill), and nothing is left behind however this ends after the barrier. */
static void *map_segment(const Limits *l, size_t control_bytes) {
  char name[64] = "";
  int file = -1, problem = 0;
  if (l->rank == 0) {
    snprintf(name, sizeof name, "/swapmeet-limits-%ld", (long)getpid());
    file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || ftruncate(file, (off_t)l->bytes)) problem = errno;
    if (!problem) problem = posix_fallocate(file, 0, (off_t)control_bytes);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, l->comm);
  if (l->rank != 0 && (file = shm_open(name, O_RDWR, 0)) < 0) problem = errno;
  void *base = MAP_FAILED;
  if (!problem)
    problem = posix_fallocate(file, (off_t)(control_bytes + (size_t)l->rank * l->slot_bytes), (off_t)l->slot_bytes);
  if (!problem && (base = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED)
    problem = errno;
  if (file >= 0) close(file);
  int worst = 0;
  MPI_Allreduce(&problem, &worst, 1, MPI_INT, MPI_MAX, l->comm);
  if (l->rank == 0) shm_unlink(name);
  if (worst && base != MAP_FAILED) munmap(base, l->bytes);
  errno = worst;
  return worst ? MAP_FAILED : base;
}

Limits *limits_begin(MPI_Comm comm, size_t most, char *why, size_t why_bytes) {
  Limits l = {.comm = comm};
  MPI_Comm_size(comm, &l.ranks);
  MPI_Comm_rank(comm, &l.rank);
  CPU_ZERO(&l.usual);
  sched_getaffinity(0, sizeof l.usual, &l.usual);
  l.cores = cores(comm, &l.placed);
  MPI_Comm node;
  int together = 0;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &together);
  MPI_Comm_free(&node);
  MPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_INT, MPI_MIN, comm);
  if (together != l.ranks) {
    snprintf(why, why_bytes, "the ranks are not all on one node");
    return NULL;
  }
  const size_t control_bytes = (sizeof(Control) + (size_t)l.ranks * sizeof(Times) + PAGE - 1) / PAGE * PAGE;
  l.slot_bytes = ((size_t)l.ranks * most + PAGE - 1) / PAGE * PAGE;
  l.bytes = control_bytes + (size_t)l.ranks * l.slot_bytes;
  char *base = map_segment(&l, control_bytes);
  if (base == MAP_FAILED) {
    snprintf(why, why_bytes, "%zu bytes of shared memory cannot be had: %s", l.bytes, strerror(errno));
    return NULL;
  }
  l.control = (Control *)(void *)base; /* all zero */
  l.times = (Times *)(void *)(base + sizeof(Control));
  l.slots = base + control_bytes;
  const double start_time = now();
  for (int i = 0; i < 1000; ++i) now();
  l.clock = (now() - start_time) / 1001;
  Limits *own = malloc(sizeof l);
  *own = l;
  return own;
}

void limits_end(Limits *l) {
  munmap(l->control, l->bytes);
  free(l);
}
