/// Copies of runs of bytes at equal distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace swapmeet {

/// Copies runs of a size that is known at compile time, without a function call for each.
template <std::size_t bytes>
void copy_runs_of(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t runs) {
  for (; runs > 0; --runs, to += to_stride, from += from_stride) std::memcpy(to, from, bytes);
}

template <std::size_t bytes>
void copy_ends(char* to, const char* from, std::size_t all) {
  char first[bytes], last[bytes];
  std::memcpy(first, from, bytes);
  std::memcpy(last, from + all - bytes, bytes);
  std::memcpy(to, first, bytes);
  std::memcpy(to + all - bytes, last, bytes);
}

/// Copies one run. A short run is copied inline, by two words that may overlap.
inline void copy_run(char* to, const char* from, std::size_t bytes) {
  if (bytes > 64) std::memcpy(to, from, bytes);
  else if (bytes > 32) copy_ends<32>(to, from, bytes);
  else if (bytes > 16) copy_ends<16>(to, from, bytes);
  else if (bytes >= 8) copy_ends<8>(to, from, bytes);
  else if (bytes >= 4) copy_ends<4>(to, from, bytes);
  else
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

/// Copies `runs` runs of `bytes` bytes each, which begin `from_stride` and `to_stride` bytes apart.
inline void copy_runs(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t runs,
                      std::int64_t bytes) {
  if (runs == 1) return copy_run(to, from, static_cast<std::size_t>(bytes));
  switch (bytes) {
    case 1: return copy_runs_of<1>(to, to_stride, from, from_stride, runs);
    case 2: return copy_runs_of<2>(to, to_stride, from, from_stride, runs);
    case 4: return copy_runs_of<4>(to, to_stride, from, from_stride, runs);
    case 8: return copy_runs_of<8>(to, to_stride, from, from_stride, runs);
    case 12: return copy_runs_of<12>(to, to_stride, from, from_stride, runs);
    case 16: return copy_runs_of<16>(to, to_stride, from, from_stride, runs);
    case 24: return copy_runs_of<24>(to, to_stride, from, from_stride, runs);
    case 32: return copy_runs_of<32>(to, to_stride, from, from_stride, runs);
    case 64: return copy_runs_of<64>(to, to_stride, from, from_stride, runs);
    case 128: return copy_runs_of<128>(to, to_stride, from, from_stride, runs);
    default: break;
  }
  for (; runs > 0; --runs, to += to_stride, from += from_stride) copy_run(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace swapmeet
