#include "typemap/copy.hpp"

#include <cstdlib>
#include <new>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "schedule/kernel_file.hpp"

namespace swapmeet {

namespace {

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

/// Copies with whole cache lines written past the caches, so that the destination need not be read first.
void stream(char* to, const char* from, std::int64_t bytes) {
#ifdef __SSE2__
  constexpr std::int64_t line = 64;
  const auto ahead = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(to) & (line - 1));
  if (bytes >= ahead + line) {
    std::memcpy(to, from, static_cast<std::size_t>(ahead));
    to += ahead, from += ahead, bytes -= ahead;
    for (; bytes >= line; bytes -= line, to += line, from += line) {
      __m128i words[4];
      std::memcpy(words, from, sizeof words);
      for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, words[i]);
    }
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// Completes streaming stores. Must be called before other ranks are informed of the data.
void end_stream() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

constexpr std::int64_t least_streamed_run = 256;  ///< in bytes

/// Size of the buffer for copies between two datatypes. It stays in the first-level cache.
constexpr std::int64_t between_bytes = 8192;

}  // namespace

void gather(const Elements& elements, std::int64_t begin, std::int64_t bytes, char* to) {
  visit(*elements.map, elements.address, begin, begin + bytes,
        [&to](const char* from, std::int64_t stride, std::int64_t runs, std::int64_t length) {
          copy_runs(to, length, from, stride, runs, length);
          to += runs * length;
        });
}

void scatter(const Elements& elements, std::int64_t begin, std::int64_t bytes, const char* from) {
  if (!elements.map) {
    stream(elements.address + begin, from, bytes);
    return end_stream();
  }
  const bool streams = elements.streams && elements.map->mean_run_bytes >= least_streamed_run;
  visit(*elements.map, elements.address, begin, begin + bytes,
        [&from, streams](char* to, std::int64_t stride, std::int64_t runs, std::int64_t length) {
          if (!streams) copy_runs(to, stride, from, length, runs, length), from += runs * length;
          else
            for (; runs > 0; --runs, to += stride, from += length) stream(to, from, length);
        });
  if (streams) end_stream();
}

void copy_elements(const Elements& from, std::int64_t from_begin, const Elements& to, std::int64_t to_begin,
                   std::int64_t bytes) {
  if (!from.map) return copy_in(to, to_begin, bytes, from.address + from_begin);
  if (!to.map && !to.streams) return copy_out(from, from_begin, bytes, to.address + to_begin);
  alignas(64) char between[between_bytes];
  for (std::int64_t done = 0; done < bytes; done += between_bytes) {
    const std::int64_t part = std::min(between_bytes, bytes - done);
    gather(from, from_begin + done, part, between);
    scatter(to, to_begin + done, part, between);
  }
}

bool exceeds_caches(std::int64_t bytes) {
  static const std::int64_t held = [] {
    long kibibytes = 0;  // not from sysconf(): in a virtual machine it sums up the caches of the whole machine
    try {
      kibibytes = std::atol(first_line_of_kernel_file("/sys/devices/system/cpu/cpu0/cache/index3/size").c_str());
    } catch (const std::bad_alloc&) {}  // an exchange in progress must continue
    constexpr std::int64_t usual = 32 << 10;
    return (kibibytes > 0 ? std::int64_t{kibibytes} : usual) << 10;
  }();
  return bytes > held;
}

}  // namespace swapmeet
