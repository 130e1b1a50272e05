/* The expected bytes: streams of hashed words. */
#include "oracle.h"

#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t oracle_mix(uint64_t value) {
  value += UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

uint64_t oracle_key(uint64_t seed, int source, int destination) {
  return oracle_mix(oracle_mix(seed ^ (uint64_t)source << 32) + (uint64_t)destination);
}

static uint64_t stream_word(OracleBytes kind, uint64_t key, size_t word) {
  const uint64_t top_bits = UINT64_C(0x8080808080808080);
  const uint64_t value = oracle_mix(key + word);
  return kind == ORACLE_DATA ? value & ~top_bits : value | top_bits;
}

void oracle_write(unsigned char *to, OracleBytes kind, uint64_t key, size_t first, size_t bytes) {
  while (bytes > 0) {
    const uint64_t word = stream_word(kind, key, first / WORD);
    const size_t skip = first % WORD;
    const size_t length = bytes < WORD - skip ? bytes : WORD - skip;
    memcpy(to, (const unsigned char *)&word + skip, length);
    to += length;
    first += length;
    bytes -= length;
  }
}

size_t oracle_compare(const unsigned char *at, OracleBytes kind, uint64_t key, size_t first, size_t bytes) {
  unsigned char expected[4096];
  for (size_t done = 0; done < bytes;) {
    const size_t length = bytes - done < sizeof expected ? bytes - done : sizeof expected;
    oracle_write(expected, kind, key, first + done, length);
    if (memcmp(at + done, expected, length) != 0) {
      while (*(at + done) == expected[done % sizeof expected]) ++done;
      return done;
    }
    done += length;
  }
  return bytes;
}
