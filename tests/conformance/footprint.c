/* What a process holds, as the kernel and the allocator say. */
#define _GNU_SOURCE
#include "footprint.h"

#include <dirent.h>
#include <limits.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const Footprint footprint_most = {LONG_MAX, LONG_MAX, LONG_MAX, LONG_MAX, LONG_MAX, LONG_MAX};

/* MPICH 5.0.2 alone grows by 150 bytes for each all-to-all of a soak, in memory that UCX maps: between the second and the
 * last third of 200,000 from 37.5 to 46.9 MiB, with the library from 39.8 to 48.2 MiB. */
#ifdef MPICH_VERSION
enum { RESIDENT_BYTES_OF_A_CALL = 256 };
#else
enum { RESIDENT_BYTES_OF_A_CALL = 0 };
#endif

/* How much more is no leak: heaps and caches of the MPI, pages that the allocator keeps, and memory of nodes that stays
 * attached for the next communicator: one file and some mappings each. The heap moves by 130 to 160 KiB between thirds
 * that do not grow in the long run (12.46 MiB after 67,000 all-to-alls, 12.47 after 200,000). */
static const struct {
  const char *name;
  size_t place;
  long unit, more, more_for_a_call;
} parts[] = {
    {"KiB of heap", offsetof(Footprint, heap_bytes), 1024, 256L << 10, 0},
    {"KiB resident", offsetof(Footprint, resident_bytes), 1024, 4L << 20, RESIDENT_BYTES_OF_A_CALL},
    {"maps", offsetof(Footprint, maps), 1, 8, 0},
    {"open files", offsetof(Footprint, files), 1, 2, 0},
    {"threads", offsetof(Footprint, threads), 1, 0, 0},
    {"files in /dev/shm", offsetof(Footprint, shared_files), 1, 0, 0},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static long part_of(const Footprint *footprint, size_t part) {
  long value;
  memcpy(&value, (const char *)footprint + parts[part].place, sizeof value);
  return value;
}

static long entries(const char *folder, const char *prefix) {
  DIR *const opened = opendir(folder);
  long found = 0;
  if (!opened) return 0;
  for (const struct dirent *entry; (entry = readdir(opened));)
    if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0) ++found;
  closedir(opened);
  return found;
}

static long lines(const char *file) {
  FILE *const opened = fopen(file, "r");
  long found = 0;
  if (!opened) return 0;
  for (int letter; (letter = getc(opened)) != EOF;) found += letter == '\n';
  fclose(opened);
  return found;
}

static long resident_bytes(void) {
  long all = 0, resident = 0;
  FILE *const opened = fopen("/proc/self/statm", "r");
  if (!opened) return 0;
  if (fscanf(opened, "%ld %ld", &all, &resident) != 2) resident = 0;
  fclose(opened);
  return resident * sysconf(_SC_PAGESIZE);
}

static long heap_bytes(void) {
#if __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 all = mallinfo2();
  return (long)(all.uordblks + all.hblkhd);
#else
  return 0;
#endif
}

Footprint footprint(void) {
  char own[40];
  snprintf(own, sizeof own, "swapmeet-%d-", (int)getpid());
  return (Footprint){.heap_bytes = heap_bytes(),
                     .resident_bytes = resident_bytes(),
                     .maps = lines("/proc/self/maps"),
                     .files = entries("/proc/self/fd", ""),
                     .threads = entries("/proc/self/task", ""),
                     .shared_files = entries("/dev/shm", own)};
}

void footprint_least(Footprint *least, const Footprint *now) {
  for (size_t part = 0; part < PARTS; ++part)
    if (part_of(now, part) < part_of(least, part))
      memcpy((char *)least + parts[part].place, (const char *)now + parts[part].place, sizeof(long));
}

void footprint_compare(Suite *suite, const Footprint *before, const Footprint *after, long calls) {
  char text[400] = "";
  for (size_t part = 0; part < PARTS; ++part) {
    const long first = part_of(before, part), last = part_of(after, part), unit = parts[part].unit;
    const size_t length = strlen(text);
    if (last - first > parts[part].more + calls * parts[part].more_for_a_call)
      snprintf(text + length, sizeof text - length, "%s%s grew from %ld to %ld", length > 0 ? ", " : "",
               parts[part].name, first / unit, last / unit);
  }
  if (text[0] != '\0') suite_fail(suite, "%s", text);
}

void footprint_print(const char *when, const Footprint *footprint) {
  printf("%s:", when);
  for (size_t part = 0; part < PARTS; ++part)
    printf("%s %ld %s", part > 0 ? "," : "", part_of(footprint, part) / parts[part].unit, parts[part].name);
  puts("");
}
