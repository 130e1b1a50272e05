#define _POSIX_C_SOURCE 200809L
#include "explained.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *kept;
static int usual = -1; /* standard error */

void explained_begin(void) {
  if (!kept && !(kept = tmpfile())) return;
  fflush(stderr);
  rewind(kept);
  if (ftruncate(fileno(kept), 0)) return;
  usual = dup(STDERR_FILENO);
  if (usual >= 0) dup2(fileno(kept), STDERR_FILENO);
}

/* "swapmeet: Alltoall on 4 ranks, blocks of 0 to 64 B: radix(r=2) (rule: ...)". Returns whether the line is of this
 * kind. */
static bool read_explanation(const char *line, Explanation *found) {
  static const char begin[] = "swapmeet: Alltoall";
  Explanation e = {.least = -1, .most = -1};
  if (strncmp(line, begin, sizeof begin - 1)) return false;
  line += sizeof begin - 1;
  e.vector = *line == 'v';
  const char *const sizes = strstr(line, ", blocks "), *const colon = strstr(line, ": ");
  const char *const blank = colon ? strstr(colon + 2, " (") : NULL, *const end = strrchr(line, ')');
  if (strncmp(line + e.vector, " on ", 4) || !blank || !end || end < blank) return false;
  if (sizes && sizes < colon) {
    if (sscanf(sizes, ", blocks from %lld", &e.least) == 1) e.most = LLONG_MAX;
    else if (sscanf(sizes, ", blocks of %lld to %lld", &e.least, &e.most) != 2) return false;
  }
  snprintf(e.spec, sizeof e.spec, "%.*s", (int)(blank - colon - 2), colon + 2);
  snprintf(e.reason, sizeof e.reason, "%.*s", (int)(end - blank - 2), blank + 2);
  *found = e;
  return true;
}

bool explained_end(Explanation *last) {
  if (usual < 0) return false;
  fflush(stderr);
  dup2(usual, STDERR_FILENO);
  close(usual);
  usual = -1;
  bool found = false;
  char line[4096];
  rewind(kept);
  while (fgets(line, sizeof line, kept))
    if (read_explanation(line, last)) found = true;
    else fputs(line, stderr);
  return found;
}
