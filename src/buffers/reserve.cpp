/// Memory for small requests when there is none left.
///
/// A rank that cannot allocate some bytes while it chooses or sets something up together with others is out of step with
/// them: they wait, or take its next messages for those of this call. So requests of this library, and of it alone
/// (exports.map keeps these functions to ourselves), fall back to a reserve: enough for the candidates of a choice and the
/// tables of some thousand ranks, until what has begun is finished. Larger requests are not served by it: who makes them
/// agrees with the other ranks, or carries the failure through the exchange (exchange/exchange.hpp).
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>

namespace {

constexpr std::size_t most_bytes = 64 << 10, reserve_bytes = std::size_t{1} << 20;
/// The end of the reserve is for small requests, which are the most, and of which all must be served.
constexpr std::size_t small_bytes = 4095, for_small_bytes = 256 << 10;
alignas(std::max_align_t) char reserve[reserve_bytes];  // takes no memory before it is used
std::atomic<std::size_t> used{0};

void* from_reserve(std::size_t bytes) {
  if (bytes > most_bytes) return nullptr;
  const std::size_t room =
      (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
  const std::size_t end = bytes > small_bytes ? reserve_bytes - for_small_bytes : reserve_bytes;
  std::size_t begin = used.load(std::memory_order_relaxed);
  do
    if (room > end || begin > end - room) return nullptr;
  while (!used.compare_exchange_weak(begin, begin + room, std::memory_order_relaxed));
  return reserve + begin;
}

bool of_reserve(const void* memory) {
  return std::less_equal<>()(static_cast<const void*>(reserve), memory) &&
         std::less<>()(memory, static_cast<const void*>(reserve + reserve_bytes));
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) [[likely]]
    return memory;
  if (void* const memory = from_reserve(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  if (!of_reserve(memory)) std::free(memory);  // the reserve is used once
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

#endif
