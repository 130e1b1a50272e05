#include <stdarg.h>
#include <stdio.h>

#include "measure.h"

void answer(const World *world, const char *format, ...) {
  if (world->rank != 0) return;
  va_list values;
  va_start(values, format);
  fputs("measure: ", stdout);
  vprintf(format, values);
  putchar('\n');
  fflush(stdout);
  va_end(values);
}
