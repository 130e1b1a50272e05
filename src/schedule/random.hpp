/// Random numbers that are the same on every machine: SplitMix64 (steele2014; constants as in Vigna's public-domain
/// splitmix64.c). The generator is small and portable, and good enough for shuffling.
#pragma once

#include <cstdint>

namespace swapmeet {

inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

/// Returns a bijective hash of `x`: every bit of the result depends on all bits of `x`.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_ += golden_gamma); }

  /// Returns a uniform number in 0..n-1. Draws from the incomplete last interval are rejected.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    std::uint64_t value = next();
    while (value >= limit) value = next();
    return value % n;
  }

  /// Returns a number in 0..n-1 without a division. It is not exactly uniform.
  std::uint32_t nearly_below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace swapmeet
