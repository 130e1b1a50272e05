/// A reserve of memory for small requests when the system has none left.
///
/// If a rank cannot allocate a few bytes while it makes a decision or sets something up together with other ranks, it
/// falls out of step with them: they wait for it, or take its next messages for those of this call. So allocations of
/// this library fall back to the reserve. Allocations of other code do not, since exports.map hides these functions.
/// The reserve is large enough for the candidates of a choice and for small tables, until the operation that has begun
/// is finished. Tables with an entry for each of many ranks have a second reserve, whose size grows with the number of
/// ranks. Larger requests are not served: their caller agrees with the other ranks, or passes the failure on in the
/// exchange (exchange/exchange.hpp).
#include "buffers/reserve.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>

namespace {

/// A region of memory that serves requests. Memory that is given back is not used again.
class Reserve {
 public:
  constexpr Reserve(char* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}

  /// Takes `bytes` bytes, but none of the last `kept` bytes of the region. Returns nullptr if they are not left.
  /// Thread-safe.
  void* take(std::size_t bytes, std::size_t kept) {
    constexpr std::size_t unit = alignof(std::max_align_t);
    const std::size_t room = (bytes + unit - 1) / unit * unit, end = bytes_ - std::min(kept, bytes_);
    std::size_t begin = used_.load(std::memory_order_relaxed);
    do
      if (room > end || begin > end - room) return nullptr;
    while (!used_.compare_exchange_weak(begin, begin + room, std::memory_order_relaxed));
    return begin_ + begin;
  }

  bool has(const void* memory) const {
    return std::less_equal<>()(static_cast<const void*>(begin_), memory) &&
           std::less<>()(memory, static_cast<const void*>(begin_ + bytes_));
  }

 private:
  char* begin_;
  std::size_t bytes_;
  std::atomic<std::size_t> used_{0};
};

constexpr std::size_t most_small_bytes = 64 << 10, reserve_bytes = std::size_t{4} << 20;
/// The end of the reserve is kept for the smallest requests, which are the most frequent and must all be served.
constexpr std::size_t smallest_bytes = 4095, for_smallest_bytes = 256 << 10;
alignas(std::max_align_t) char memory_of_reserve[reserve_bytes];  // takes no physical memory before it is used
constinit Reserve reserve(memory_of_reserve, reserve_bytes);

constexpr std::size_t tables = 16;
constexpr std::size_t most_ranks = 4096;               ///< on more ranks, tables have only a few numbers per rank
constinit std::atomic<Reserve*> for_tables = nullptr;  ///< the reserve for tables of many ranks, if it exists
constinit std::atomic<std::size_t> most_table_bytes = 0;

void* from_reserve(std::size_t bytes) {
  if (bytes <= most_small_bytes) return reserve.take(bytes, bytes > smallest_bytes ? for_smallest_bytes : 0);
  Reserve* const larger = for_tables.load(std::memory_order_acquire);
  return larger && bytes <= most_table_bytes.load(std::memory_order_relaxed) ? larger->take(bytes, 0) : nullptr;
}

bool of_reserve(const void* memory) {
  const Reserve* const larger = for_tables.load(std::memory_order_acquire);
  return reserve.has(memory) || (larger && larger->has(memory));
}

}  // namespace

namespace swapmeet {

void reserve_for(std::int32_t ranks) {
  const std::size_t most = table_bytes_per_rank * std::min(static_cast<std::size_t>(ranks), most_ranks);
  if (most <= most_small_bytes || for_tables.load(std::memory_order_relaxed)) return;
  void* const memory =
      mmap(nullptr, tables * most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  static Reserve larger(static_cast<char*>(memory), tables * most);
  most_table_bytes.store(most, std::memory_order_relaxed);
  for_tables.store(&larger, std::memory_order_release);
}

}  // namespace swapmeet

void* operator new(std::size_t bytes) {
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) [[likely]]
    return memory;
  if (void* const memory = from_reserve(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  if (!of_reserve(memory)) std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

#else  // sanitizers define these operators themselves

void swapmeet::reserve_for(std::int32_t) {}

#endif
