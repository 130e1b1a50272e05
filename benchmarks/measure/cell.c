#define _POSIX_C_SOURCE 200809L
#include "cell.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "memory.h"
#include "workload/workload.h"

enum { GUARD = 4096, POISON = 0x5a }; /* GUARD: a page, so that blocks begin on one for every candidate */

/* A number such as "64"; -1 if it is none, or above `most`. */
static int64_t number(const char *text, uint64_t most, uint64_t *value) {
  char *end;
  errno = 0;
  if (*text < '0' || *text > '9') return -1;
  *value = strtoull(text, &end, 10);
  return *end || errno || *value > most ? -1 : 0;
}

typedef struct {
  bool equal; /* blocks of `bytes` each; else as the matrix says, if it has been read, or the workload */
  uint64_t bytes, seed;
  Workload workload;
  Matrix matrix;
  int rank;
} Sizes;

/* One of the two is this rank. */
static int64_t block(const Sizes *sizes, int ranks, int source, int destination) {
  if (sizes->matrix.sent)
    return source == sizes->rank ? sizes->matrix.sent[destination] : sizes->matrix.received[source];
  return sizes->equal ? (int64_t)sizes->bytes
                      : workload_bytes(&sizes->workload, sizes->seed, ranks, source, destination);
}

/* Reads what is the same on all ranks. Returns whether it is right. */
static bool read_words(Cell *cell, Sizes *sizes, const char *collective, const char *text, const char *seed,
                       const char *datatype, char *why, size_t why_bytes) {
  cell->vector = !strcmp(collective, "alltoallv");
  if (!cell->vector && strcmp(collective, "alltoall"))
    return snprintf(why, why_bytes, "\"%.40s\" is neither alltoall nor alltoallv", collective), false;
  if (number(seed, UINT64_MAX, &sizes->seed))
    return snprintf(why, why_bytes, "\"%.40s\" is no seed: expected 0 to 2^64-1", seed), false;
  if (!strcmp(datatype, "byte")) {
    cell->unit = cell->extent = 1;
  } else if (!strcmp(datatype, "double")) {
    cell->unit = cell->extent = sizeof(double);
  } else if (!strcmp(datatype, "strided")) {
    cell->unit = sizeof(double);
    cell->extent = 2 * cell->unit;
  } else {
    return snprintf(why, why_bytes, "\"%.40s\" is no datatype: expected byte, double or strided", datatype), false;
  }
  sizes->equal = !number(text, (uint64_t)1 << 40, &sizes->bytes);
  if (sizes->equal) return true;
  char problem[400];
  const bool matrix = !strncmp(text, MATRIX_PREFIX, strlen(MATRIX_PREFIX));
  if (!matrix && !workload_parse(text, &sizes->workload, problem, sizeof problem))
    return snprintf(why, why_bytes, "\"%.200s\": %s", text, problem), false;
  if (!cell->vector)
    return snprintf(why, why_bytes, "alltoall has blocks of one size: expected bytes, up to 1 TiB"), false;
  return true;
}

/* Whether a block of so many bytes can be: if not, says why. */
static bool fits(const Cell *cell, int64_t bytes, int64_t places, char *why, size_t why_bytes) {
  const int64_t unit = (int64_t)cell->unit;
  if (bytes % unit)
    return snprintf(why, why_bytes, "a block of %lld bytes holds no whole number of items of %zu bytes",
                    (long long)bytes, cell->unit),
           false;
  if (bytes / unit > INT_MAX || (cell->vector && places > INT_MAX))
    return snprintf(why, why_bytes, "blocks of this size need counts or displacements above 2^31-1, which %s has not",
                    cell->vector ? "MPI_Alltoallv" : "MPI_Alltoall"),
           false;
  return true;
}

/* What this rank's buffers would take; -1, and why, if they cannot be. */
static int64_t measured(const Cell *cell, const Sizes *sizes, char *why, size_t why_bytes) {
  const int64_t unit = (int64_t)cell->unit;
  int64_t sent = 0, received = 0;
  for (int i = 0; i < cell->ranks; ++i) {
    const int64_t out = block(sizes, cell->ranks, cell->rank, i), in = block(sizes, cell->ranks, i, cell->rank);
    if (!fits(cell, out, sent, why, why_bytes) || !fits(cell, in, received, why, why_bytes)) return -1;
    sent += out / unit;
    received += in / unit;
  }
  return (sent + received) * (int64_t)cell->extent + 4 * GUARD + 4 * (int64_t)sizeof(int) * cell->ranks;
}

/* Fills in counts and places. Returns the bytes that the blocks span. */
static size_t lay_out(const Cell *cell, const Sizes *sizes, bool sending, int *counts, int *places) {
  size_t items = 0;
  for (int i = 0; i < cell->ranks; ++i) {
    const int64_t bytes = sending ? block(sizes, cell->ranks, cell->rank, i) : block(sizes, cell->ranks, i, cell->rank);
    counts[i] = (int)(bytes / (int64_t)cell->unit);
    places[i] = cell->vector ? (int)items : 0;
    items += (size_t)counts[i];
  }
  return items * cell->extent;
}

static char *guarded(size_t span) {
  void *memory = NULL;
  return posix_memalign(&memory, GUARD, span + 2 * GUARD) ? NULL : memory;
}

static bool allocate(Cell *cell, const Sizes *sizes) {
  int **const lists[4] = {&cell->send_counts, &cell->receive_counts, &cell->send_places, &cell->receive_places};
  for (int i = 0; i < 4; ++i)
    if (!(*lists[i] = malloc((size_t)cell->ranks * sizeof(int)))) return false;
  cell->send_span = lay_out(cell, sizes, true, cell->send_counts, cell->send_places);
  cell->receive_span = lay_out(cell, sizes, false, cell->receive_counts, cell->receive_places);
  cell->send_memory = guarded(cell->send_span);
  cell->receive_memory = guarded(cell->receive_span);
  if (!cell->send_memory || !cell->receive_memory) return false;
  cell->send = cell->send_memory + GUARD;
  cell->receive = cell->receive_memory + GUARD;
  return true;
}

static void make_type(Cell *cell) {
  cell->type = cell->unit == 1 ? MPI_BYTE : MPI_DOUBLE;
  if (cell->unit == cell->extent) return;
  MPI_Datatype every_other;
  MPI_Type_vector(1, 1, 2, MPI_DOUBLE, &every_other);
  MPI_Type_create_resized(every_other, 0, (MPI_Aint)cell->extent, &cell->type);
  MPI_Type_free(&every_other);
  MPI_Type_commit(&cell->type);
}

/* Makes the exchange of sizes that are known. */
static Cell *make(const World *world, const Cell *cell, const Sizes *sizes, char *why, size_t why_bytes) {
  const int64_t need = measured(cell, sizes, why, why_bytes);
  if (!agreed(world, need >= 0, why, why_bytes)) return NULL;
  if (!agreed(world, memory_suffices(world, need, why, why_bytes), why, why_bytes)) return NULL;
  Cell *own = malloc(sizeof *own);
  if (own) *own = *cell;
  const bool made = own && allocate(own, sizes);
  snprintf(why, why_bytes, "%lld bytes of memory cannot be allocated on a rank", (long long)need);
  if (!agreed(world, made, why, why_bytes)) return cell_free(own), NULL;
  make_type(own);
  cell_fill(own);
  return own;
}

Cell *cell_make(const World *world, const char *collective, const char *sizes_text, const char *seed,
                const char *datatype, char *why, size_t why_bytes) {
  Cell cell = {.ranks = world->ranks, .rank = world->rank, .type = MPI_DATATYPE_NULL};
  Sizes sizes = {.rank = world->rank};
  if (!read_words(&cell, &sizes, collective, sizes_text, seed, datatype, why, why_bytes)) return NULL;
  const bool matrix = !strncmp(sizes_text, MATRIX_PREFIX, strlen(MATRIX_PREFIX));
  if (matrix && !matrix_read(world, sizes_text, &sizes.matrix, why, why_bytes)) return NULL;
  Cell *const own = make(world, &cell, &sizes, why, why_bytes);
  matrix_free(&sizes.matrix);
  return own;
}

void cell_free(Cell *cell) {
  if (!cell) return;
  if (cell->unit != cell->extent && cell->type != MPI_DATATYPE_NULL) MPI_Type_free(&cell->type);
  free(cell->send_counts);
  free(cell->receive_counts);
  free(cell->send_places);
  free(cell->receive_places);
  free(cell->send_memory);
  free(cell->receive_memory);
  free(cell);
}

/* SplitMix64's output function: one bit of the input changes about half of the output's. */
static uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t key(const Cell *cell, int source, int destination) {
  return mixed(mixed(mixed(cell->salt + 1) + (uint64_t)source) + (uint64_t)destination);
}

/* Eight bytes of a block: those of its data from byte k on. */
static uint64_t word(uint64_t its_key, uint64_t k) { return mixed(its_key + k * UINT64_C(0x9e3779b97f4a7c15)); }

/* Where byte `k` of the data of block `i` lies in the buffer. Eight bytes from a multiple of 8 on lie together. */
static size_t place(const Cell *cell, const int *counts, const int *places, int i, size_t k) {
  const size_t items = cell->vector ? (size_t)places[i] : (size_t)counts[i] * (size_t)i;
  return (items + k / cell->unit) * cell->extent + k % cell->unit;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void cell_fill(Cell *cell) {
  ++cell->salt;
  memset(cell->send_memory, POISON, cell->send_span + 2 * GUARD);
  memset(cell->receive_memory, POISON, cell->receive_span + 2 * GUARD);
  for (int i = 0; i < cell->ranks; ++i) {
    const uint64_t out = key(cell, cell->rank, i), in = key(cell, i, cell->rank);
    const size_t sent = (size_t)cell->send_counts[i] * cell->unit,
                 received = (size_t)cell->receive_counts[i] * cell->unit;
    for (size_t k = 0; k < sent; k += 8) {
      const uint64_t data = word(out, k);
      memcpy(cell->send + place(cell, cell->send_counts, cell->send_places, i, k), &data, least(8, sent - k));
    }
    for (size_t k = 0; k < received; k += 8) {
      const uint64_t poison = ~word(in, k);
      memcpy(cell->receive + place(cell, cell->receive_counts, cell->receive_places, i, k), &poison,
             least(8, received - k));
    }
  }
}

/* The first byte of `bytes` that is not POISON; `bytes` if all are. */
static size_t untouched(const char *memory, size_t bytes) {
  size_t i = 0;
  while (i < bytes && memory[i] == POISON) ++i;
  return i;
}

static bool verify_block(const Cell *cell, int source, char *report, size_t report_bytes) {
  const uint64_t its_key = key(cell, source, cell->rank);
  const size_t bytes = (size_t)cell->receive_counts[source] * cell->unit, gap = cell->extent - cell->unit;
  for (size_t k = 0; k < bytes; k += 8) {
    const char *const here = cell->receive + place(cell, cell->receive_counts, cell->receive_places, source, k);
    const uint64_t expected = word(its_key, k);
    const char *const wanted = (const char *)&expected;
    const size_t many = least(8, bytes - k);
    if (memcmp(here, wanted, many)) {
      size_t j = 0;
      while (here[j] == wanted[j]) ++j;
      snprintf(report, report_bytes, "source %d destination %d byte %zu of %zu: expected 0x%02x, got 0x%02x%s", source,
               cell->rank, k + j, bytes, (unsigned char)wanted[j], (unsigned char)here[j],
               here[j] == (char)~wanted[j] ? ", as before the call" : "");
      return false;
    }
    if (gap && untouched(here + cell->unit, gap) < gap) {
      snprintf(report, report_bytes, "source %d destination %d: the gap behind byte %zu of %zu was written", source,
               cell->rank, k + many, bytes);
      return false;
    }
  }
  return true;
}

bool cell_verify(const Cell *cell, char *report, size_t report_bytes) {
  for (int source = 0; source < cell->ranks; ++source)
    if (!verify_block(cell, source, report, report_bytes)) return false;
  for (int behind = 0; behind < 2; ++behind) {
    const char *const guard = behind ? cell->receive + cell->receive_span : cell->receive_memory;
    const size_t where = untouched(guard, GUARD);
    if (where == GUARD) continue;
    snprintf(report, report_bytes, "destination %d: %zu bytes %s the receive buffer were written", cell->rank,
             behind ? where + 1 : GUARD - where, behind ? "behind" : "before");
    return false;
  }
  for (int i = 0; i < cell->ranks; ++i) {
    const size_t bytes = (size_t)cell->send_counts[i] * cell->unit;
    for (size_t k = 0; k < bytes; k += 8) {
      const uint64_t data = word(key(cell, cell->rank, i), k);
      if (!memcmp(cell->send + place(cell, cell->send_counts, cell->send_places, i, k), &data, least(8, bytes - k)))
        continue;
      snprintf(report, report_bytes, "source %d: the send buffer was written, in the block for %d", cell->rank, i);
      return false;
    }
  }
  return true;
}

void cell_touch(const Cell *cell, int value) { memset(cell->send, value, cell->send_span); }

size_t cell_mean_block(const Cell *cell) {
  unsigned long long mine = 0, all = 0;
  for (int i = 0; i < cell->ranks; ++i) mine += (unsigned long long)cell->send_counts[i] * cell->unit;
  MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  const unsigned long long blocks = (unsigned long long)cell->ranks * (unsigned long long)cell->ranks;
  return (size_t)((all + blocks - 1) / blocks);
}
