/* Sizes of blocks that are read from a file, as `swapmeet profile` has recorded them. */
#ifndef MEASURE_MATRIX_H
#define MEASURE_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "measure.h"

#define MATRIX_PREFIX "matrix:"

/* What this rank sends to each, and what it gets from each. */
typedef struct {
  int64_t *sent, *received;
} Matrix;

/* Reads the file of which the text says where it is, "matrix:PATH": P * P numbers of 8 bytes in the order of bytes of
 * this machine, row i being what rank i sends, in bytes. Only rank 0 needs the file. Collective. Returns false on all
 * ranks if it cannot be; `why` (on rank 0) then says why. */
bool matrix_read(const World* world, const char* text, Matrix* matrix, char* why, size_t why_bytes);
void matrix_free(Matrix* matrix);

#endif
