/* What every byte of every buffer must be, computed and never received: the host MPI is no oracle.
 * Data bytes have the top bit clear and background bytes have it set, so a byte that was not written, or one that was
 * written where nothing belongs, is always seen and not only with probability 127/128. */
#ifndef CONFORMANCE_ORACLE_H
#define CONFORMANCE_ORACLE_H

#include <stddef.h>
#include <stdint.h>

typedef enum { ORACLE_DATA, ORACLE_BACKGROUND } OracleBytes;

/** A well mixed 64-bit value; also the suite's random numbers (same on every platform, no rand()). */
uint64_t oracle_mix(uint64_t value);

/** Key of the byte stream that `source` sends to `destination`. */
uint64_t oracle_key(uint64_t seed, int source, int destination);

/** Write bytes [first, first + bytes) of the stream `key`. */
void oracle_write(unsigned char* to, OracleBytes kind, uint64_t key, size_t first, size_t bytes);

/** @return index of the first byte that differs from the stream, or `bytes` if none does. */
size_t oracle_compare(const unsigned char* at, OracleBytes kind, uint64_t key, size_t first, size_t bytes);

#endif
