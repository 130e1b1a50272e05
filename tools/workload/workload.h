/* Workloads: the sizes of the blocks of a non-uniform all-to-all exchange, for tests, benchmarks and models.
 *
 * A workload is written as a text:
 *
 *   constant:bytes=64                                 every block has this size
 *   uniform:max=1024                                  0, 1, ..., max, all equally likely [nonuniform, section 4.1]
 *   normal:mean=512,deviation=128,max=1024            normal, rounded, then clamped to 0..max; the default of max is
 *                                                     2 * mean
 *   power-law:exponent=0.99,max=64KiB                 1, 2, ..., max; k about as likely as k^-exponent
 *   skewed:exponent=0.99,max=64KiB,of=source          all blocks of a source (or destination) have the same size, drawn
 *                                                     from a power law: few ranks hold most bytes
 *   sparse:density=0.05,bytes=4KiB                    this size with probability density, else empty
 *   hot-spot:bytes=8,hot=64MiB,source=0,destination=1 bytes, but hot from source to destination; one of the two may be
 *                                                     `any` or missing; ranks that do not exist are not hot
 *
 * Sizes are in bytes, up to 1024GiB, with the units B, KiB (K, k), MiB (M), GiB (G). Other numbers have at most 9
 * decimals. A rank's block for itself has a size like any other.
 *
 * Source: `nonuniform` (docs/papers.bib) names uniform, normal and power-law sizes. Its section 4.3, which defines the
 * last two, is missing from the text that we have, so these definitions are our own:
 *
 *   normal     mean + deviation * z, where z is the sum of 12 uniform numbers less 6. z has mean 0, deviation 1, and
 *              excess kurtosis -0.1; |z| never exceeds 6. The computation uses integers only.
 *   power-law  floor(x), where x has the density c * x^-exponent on [1, max + 1): for a uniform u in [0, 1),
 *              x = (1 + u * ((max + 1)^(1 - exponent) - 1))^(1 / (1 - exponent)), or (max + 1)^u if exponent is 1:
 *              clauset2009, appendix D, with an upper bound. So P(k) is proportional to the integral of x^-exponent
 *              over [k, k + 1).
 *
 * A size is a function of workload, seed, source and destination. Both ends compute it without communication, and it
 * is the same on every machine with IEEE binary64 arithmetic (no function of libm that rounds is called). Its random
 * numbers are a stream of SplitMix64 (steele2014; constants as in Vigna's public-domain splitmix64.c,
 * prng.di.unimi.it), whose state is seed, source and destination, mixed one after the other.
 *
 * Plain C, no MPI, no allocation. Every function is thread-safe. */
#ifndef SWAPMEET_WORKLOAD_H
#define SWAPMEET_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  WORKLOAD_CONSTANT,
  WORKLOAD_UNIFORM,
  WORKLOAD_NORMAL,
  WORKLOAD_POWER_LAW,
  WORKLOAD_SKEWED,
  WORKLOAD_SPARSE,
  WORKLOAD_HOT_SPOT,
  WORKLOAD_KINDS
} WorkloadKind;

enum { WORKLOAD_ANY = -1 }; /* any source or destination */

/* The end of a block that determines its size in a skewed workload. */
enum { WORKLOAD_OF_SOURCE, WORKLOAD_OF_DESTINATION };

/** A workload, as workload_parse() fills it. A kind uses only the fields that its text names. */
typedef struct {
  WorkloadKind kind;
  int64_t bytes;     /* of a block; sparse: of a non-empty one; hot-spot: of one that is not hot */
  int64_t max_bytes; /* uniform, normal, power-law, skewed */
  int64_t mean_bytes, deviation_bytes;
  int64_t exponent_billionths, density_billionths;
  int64_t hot_bytes;
  int64_t of;                  /* skewed: WORKLOAD_OF_SOURCE or WORKLOAD_OF_DESTINATION */
  int64_t source, destination; /* of the hot blocks, or WORKLOAD_ANY */
} Workload;

/** The blocks that one rank sends, or receives, the block for itself included. */
typedef struct {
  int64_t bytes;         /* of all blocks */
  int64_t largest_bytes; /* of one block */
  int blocks;            /* number of non-empty ones */
} WorkloadShare;

/** Parse a workload.
 *  @param workload  set only on success.
 *  @param message   set on failure: the problem, the expected text, and the column (from 1); truncated to
 *                   message_bytes.
 *  @return whether the text is a workload. */
bool workload_parse(const char* text, Workload* workload, char* message, size_t message_bytes);

/** Write the workload's text with all its parameters, as workload_parse() reads it. 120 bytes are enough.
 *  @return text */
const char* workload_print(const Workload* workload, char* text, size_t text_bytes);

/** @return the kind's name in texts, such as "power-law". */
const char* workload_kind_name(WorkloadKind kind);

/** Return the size in bytes of the block that `source` sends to `destination`. Takes constant time.
 *  @param ranks  number of ranks of the exchange; source and destination are below it. At present the size does not
 *                depend on it. */
int64_t workload_bytes(const Workload* workload, uint64_t seed, int ranks, int source, int destination);

/** Return an upper bound in bytes on the blocks of all ranks for all seeds; it is (almost) reached. Takes constant
 *  time. */
int64_t workload_most_bytes(const Workload* workload);

/** Return the blocks that `rank` sends, and those that it receives. Both take time proportional to `ranks`. */
WorkloadShare workload_sent(const Workload* workload, uint64_t seed, int ranks, int rank);
WorkloadShare workload_received(const Workload* workload, uint64_t seed, int ranks, int rank);

#ifdef __cplusplus
}
#endif

#endif
