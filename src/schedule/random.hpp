/// Random numbers that are the same on every machine: SplitMix64 (steele2014; constants as in Vigna's public-domain
/// splitmix64.c). Small, portable, good enough to shuffle with.
#pragma once

#include <cstdint>

namespace swapmeet {

inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

/// A number in which every bit depends on all bits of `x`, one to one.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_ += golden_gamma); }

  /// Uniform in 0..n-1, by rejecting the incomplete last interval.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    std::uint64_t value = next();
    while (value >= limit) value = next();
    return value % n;
  }

  /// From 0 to n-1, not exactly uniform, but without a division.
  std::uint32_t nearly_below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace swapmeet
