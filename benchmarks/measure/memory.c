#include "memory.h"

#include <stdio.h>
#include <string.h>

bool agreed(const World *world, bool mine, char *why, size_t why_bytes) {
  int first = mine ? world->ranks : world->rank, all;
  MPI_Allreduce(&first, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all == world->ranks) return true;
  MPI_Bcast(why, (int)why_bytes, MPI_CHAR, all, MPI_COMM_WORLD);
  return false;
}

/* The number behind `name` in a file such as /proc/meminfo; alone in it, if `name` is "". -1: there is none. */
static int64_t number_in(const char *path, const char *name) {
  FILE *const file = fopen(path, "r");
  if (!file) return -1;
  char line[200];
  long long value = -1;
  while (value < 0 && fgets(line, sizeof line, file))
    if (!strncmp(line, name, strlen(name)) && sscanf(line + strlen(name), "%lld", &value) != 1) value = -1;
  fclose(file);
  return value;
}

/* What a control group (version 2, then 1) leaves to its processes, files that are cached not counted; INT64_MAX: no
 * limit. */
static int64_t left_to_group(void) {
  static const char *const files[2][3] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat"}};
  for (int version = 0; version < 2; ++version) {
    const int64_t most = number_in(files[version][0], ""), used = number_in(files[version][1], "");
    const int64_t cached = number_in(files[version][2], "inactive_file ");
    if (most > 0 && used >= 0) return most - used + (cached > 0 ? cached : 0);
  }
  return INT64_MAX;
}

bool memory_suffices(const World *world, int64_t bytes, char *why, size_t why_bytes) {
  const double mine = 2 * (double)bytes;
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, world->node);
  const int64_t kibibytes = number_in("/proc/meminfo", "MemAvailable:"), left = left_to_group();
  double free_bytes = kibibytes < 0 ? 1e18 : 1024 * (double)kibibytes;
  if ((double)left < free_bytes) free_bytes = (double)left;
  MPI_Bcast(&free_bytes, 1, MPI_DOUBLE, 0, world->node);
  if (all <= free_bytes) return true;
  int members = 0;
  MPI_Comm_size(world->node, &members);
  snprintf(why, why_bytes,
           "the %d ranks of a node would need %.3g GiB, of which half is for working memory; there are %.3g GiB",
           members, all / (1 << 30), free_bytes / (1 << 30));
  return false;
}
