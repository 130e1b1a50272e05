/* The sizes of the blocks of a non-uniform all-to-all exchange, shared by tests, benchmarks and models.
 *
 * A workload is written as one text:
 *
 *   constant:bytes=64                                 every block has so many bytes
 *   uniform:max=1024                                  0, 1, ..., max, all equally likely [nonuniform, section 4.1]
 *   normal:mean=512,deviation=128,max=1024            normal, rounded, then clamped to 0..max; max: 2 * mean if not
 *                                                     given
 *   power-law:exponent=0.99,max=64KiB                 1, 2, ..., max; k about as likely as k^-exponent
 *   skewed:exponent=0.99,max=64KiB,of=source          all blocks of a source (or destination) have one size, which is
 *                                                     drawn as a power-law: few ranks hold most bytes
 *   sparse:density=0.05,bytes=4KiB                    bytes with probability density, else empty
 *   hot-spot:bytes=8,hot=64MiB,source=0,destination=1 bytes, but hot from source to destination; one of the two may be
 *                                                     `any` or not given; ranks that do not exist are not hot
 *
 * Sizes are in bytes, up to 1024GiB, and take the units B, KiB (K, k), MiB (M), GiB (G); other numbers have at most 9
 * decimals. A rank's block for itself is like any other.
 *
 * Where sizes come from: `nonuniform` (docs/papers.bib) names uniform, normal and power-law sizes; its section 4.3,
 * which defines the last two, is missing from the text that we have, so their definitions are ours:
 *
 *   normal     mean + deviation * z, where z is the sum of 12 uniform numbers less 6. It has mean 0, deviation 1, and
 *              excess kurtosis -0.1: |z| never exceeds 6. Integers only.
 *   power-law  floor(x), where x has the density c * x^-exponent on [1, max + 1): of a uniform u in [0, 1),
 *              x = (1 + u * ((max + 1)^(1 - exponent) - 1))^(1 / (1 - exponent)), or (max + 1)^u where exponent is 1:
 *              clauset2009, appendix D, with an upper bound. So P(k) is proportional to the integral of x^-exponent
 *              over [k, k + 1).
 *
 * A size is a function of workload, seed, source and destination: both ends know it without communication, and it is
 * the same on every machine with IEEE binary64 arithmetic (no function of libm that rounds is called). Its random
 * numbers are a stream of SplitMix64 (steele2014; constants as in Vigna's public-domain splitmix64.c,
 * prng.di.unimi.it), whose state is seed, source and destination, mixed one after the other.
 *
 * Plain C, no MPI, no allocation. Every function may be called from any thread. */
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

enum { WORKLOAD_ANY = -1 }; /* as a source or destination */

/* Whose blocks have one size. */
enum { WORKLOAD_OF_SOURCE, WORKLOAD_OF_DESTINATION };

/** Filled by workload_parse(). A kind uses the fields that its text names, and no other. */
typedef struct {
  WorkloadKind kind;
  int64_t bytes;     /* constant, sparse: a block that is not empty; hot-spot: one that is not hot */
  int64_t max_bytes; /* uniform, normal, power-law, skewed */
  int64_t mean_bytes, deviation_bytes;
  int64_t exponent_billionths, density_billionths;
  int64_t hot_bytes;
  int64_t of;                  /* skewed: WORKLOAD_OF_SOURCE or WORKLOAD_OF_DESTINATION */
  int64_t source, destination; /* of the hot blocks, or WORKLOAD_ANY */
} Workload;

/** What one rank sends, or what it receives, the block for itself included. */
typedef struct {
  int64_t bytes;         /* of all blocks */
  int64_t largest_bytes; /* of one block */
  int blocks;            /* that are not empty */
} WorkloadShare;

/** Read a workload from its text.
 *  @param workload  set only on success.
 *  @param message   on failure what is wrong, what was expected, and the column (from 1); cut to message_bytes.
 *  @return whether the text is a workload. */
bool workload_parse(const char* text, Workload* workload, char* message, size_t message_bytes);

/** Write the workload's text, every parameter included; workload_parse() reads it back. 120 bytes are enough.
 *  @return text */
const char* workload_print(const Workload* workload, char* text, size_t text_bytes);

/** @return the kind's name in texts, such as "power-law". */
const char* workload_kind_name(WorkloadKind kind);

/** Size of the block that `source` sends to `destination`, in bytes. Takes constant time.
 *  @param ranks  of the exchange; both other ranks are below it. The answer does not depend on it today. */
int64_t workload_bytes(const Workload* workload, uint64_t seed, int ranks, int source, int destination);

/** A bound in bytes on every block, of all ranks, for all seeds; reached, or nearly so. Takes constant time. */
int64_t workload_most_bytes(const Workload* workload);

/** What `rank` sends, and what it receives. Take time proportional to `ranks`. */
WorkloadShare workload_sent(const Workload* workload, uint64_t seed, int ranks, int rank);
WorkloadShare workload_received(const Workload* workload, uint64_t seed, int ranks, int rank);

#ifdef __cplusplus
}
#endif

#endif
