#include "typemap/copy.hpp"

namespace swapmeet {

namespace {

/// Runs of a size that the compiler knows: no call for each of them.
template <std::size_t bytes>
void copy_runs_of(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t runs) {
  for (; runs > 0; --runs, to += to_stride, from += from_stride) std::memcpy(to, from, bytes);
}

void copy_runs(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t runs,
               std::int64_t bytes) {
  switch (runs == 1 ? 0 : bytes) {
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
  for (; runs > 0; --runs, to += to_stride, from += from_stride) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// Between two types data go through so many bytes, which stay in the first cache.
constexpr std::int64_t between_bytes = 8192;

}  // namespace

void gather(const TypeMapView& map, const char* elements, std::int64_t begin, std::int64_t bytes, char* to) {
  visit(map, const_cast<char*>(elements), begin, begin + bytes,
        [&to](const char* from, std::int64_t stride, std::int64_t runs, std::int64_t length) {
          copy_runs(to, length, from, stride, runs, length);
          to += runs * length;
        });
}

void scatter(const TypeMapView& map, char* elements, std::int64_t begin, std::int64_t bytes, const char* from) {
  visit(map, elements, begin, begin + bytes,
        [&from](char* to, std::int64_t stride, std::int64_t runs, std::int64_t length) {
          copy_runs(to, stride, from, length, runs, length);
          from += runs * length;
        });
}

void copy_elements(const Elements& from, std::int64_t from_begin, const Elements& to, std::int64_t to_begin,
                   std::int64_t bytes) {
  if (!from.map) return copy_in(to, to_begin, bytes, from.address + from_begin);
  if (!to.map) return copy_out(from, from_begin, bytes, to.address + to_begin);
  alignas(64) char between[between_bytes];
  for (std::int64_t done = 0; done < bytes; done += between_bytes) {
    const std::int64_t part = std::min(between_bytes, bytes - done);
    gather(*from.map, from.address, from_begin + done, part, between);
    scatter(*to.map, to.address, to_begin + done, part, between);
  }
}

}  // namespace swapmeet
