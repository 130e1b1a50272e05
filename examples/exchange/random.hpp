/// The same numbers on every machine, without order: the n-th is had at once. (splitmix64: G. L. Steele et al., OOPSLA
/// 2014.)
#pragma once

#include <cstdint>

inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// From 0 to 1, 1 left out.
inline double random_unit(std::uint64_t seed, std::uint64_t n) {
  return static_cast<double>(random_bits(seed, n) >> 11) * 0x1p-53;
}
