#include "matrix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static const int64_t most_bytes = (int64_t)1 << 40; /* of a block, as elsewhere */

/* Reads so many numbers. Returns whether they are sizes, and all that the file has. */
static bool read_numbers(const char *path, int64_t *numbers, size_t count, int ranks, char *why, size_t why_bytes) {
  FILE *const file = fopen(path, "rb");
  if (!file) return snprintf(why, why_bytes, "\"%.200s\": %s", path, strerror(errno)), false;
  const bool complete = fread(numbers, sizeof *numbers, count, file) == count && fgetc(file) == EOF;
  fclose(file);
  if (!complete)
    return snprintf(why, why_bytes, "\"%.200s\" does not hold %d * %d numbers of 8 bytes", path, ranks, ranks), false;
  for (size_t i = 0; i < count; ++i)
    if (numbers[i] < 0 || numbers[i] > most_bytes)
      return snprintf(why, why_bytes, "\"%.200s\": %lld bytes from rank %zu to rank %zu: expected 0 to 1 TiB", path,
                      (long long)numbers[i], i / (size_t)ranks, i % (size_t)ranks),
             false;
  return true;
}

static void transpose(int64_t *numbers, size_t ranks) {
  for (size_t i = 0; i < ranks; ++i)
    for (size_t j = 0; j < i; ++j) {
      const int64_t number = numbers[i * ranks + j];
      numbers[i * ranks + j] = numbers[j * ranks + i];
      numbers[j * ranks + i] = number;
    }
}

bool matrix_read(const World *world, const char *text, Matrix *matrix, char *why, size_t why_bytes) {
  const size_t ranks = (size_t)world->ranks, row = ranks * sizeof(int64_t);
  int64_t *const all = world->rank ? NULL : malloc(ranks * row);
  *matrix = (Matrix){malloc(row), malloc(row)};
  bool good = matrix->sent && matrix->received && (world->rank || all);
  if (!good) snprintf(why, why_bytes, "%zu bytes for sizes cannot be allocated", ranks * row);
  if (good && !world->rank)
    good = read_numbers(text + strlen(MATRIX_PREFIX), all, ranks * ranks, world->ranks, why, why_bytes);
  good = agreed(world, good, why, why_bytes);
  if (good) {
    MPI_Scatter(all, world->ranks, MPI_INT64_T, matrix->sent, world->ranks, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (all) transpose(all, ranks);
    MPI_Scatter(all, world->ranks, MPI_INT64_T, matrix->received, world->ranks, MPI_INT64_T, 0, MPI_COMM_WORLD);
  } else {
    matrix_free(matrix);
  }
  free(all);
  return good;
}

void matrix_free(Matrix *matrix) {
  free(matrix->sent);
  free(matrix->received);
  *matrix = (Matrix){NULL, NULL};
}
