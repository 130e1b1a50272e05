/// Interposed malloc and related functions. Large blocks come from the heap, all others from the allocator that would
/// serve them without this library. In unusual conditions (another allocator, a sanitizer, no room) that allocator
/// serves all blocks.
///
/// No code here may allocate before the allocator is found. But the search for it may allocate.
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "heap/heap.hpp"
#include "options/heap_setting.hpp"

#define SWAPMEET_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace heap = swapmeet::heap;

// --- before the allocator is found -----------------------------------------------------------------------------------

/// Memory for blocks that the dynamic loader allocates during the search for the allocator. It is never reused.
struct First {
  static constexpr std::size_t room = 64 << 10;
  alignas(64) char memory[room];
  std::atomic<std::size_t> used;

  bool holds(const void* block) const {
    return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(memory) < room;
  }

  /// Upper bound of the size of a block that is resized to `bytes` bytes: at most `bytes`.
  std::size_t most_bytes_of(const void* block, std::size_t bytes) const {
    return std::min(bytes, static_cast<std::size_t>(memory + room - static_cast<const char*>(block)));
  }

  void* take(std::size_t bytes, std::size_t alignment) {
    std::size_t first = used, begin;
    do begin = (first + alignment - 1) / alignment * alignment;
    while (bytes <= room && begin <= room - bytes && !used.compare_exchange_weak(first, begin + bytes));
    if (bytes <= room && begin <= room - bytes) return memory + begin;
    errno = ENOMEM;
    return nullptr;
  }
};
constinit First first{};

void resolve();
void* first_malloc(std::size_t bytes);
void* first_calloc(std::size_t count, std::size_t bytes);
void* first_realloc(void* block, std::size_t bytes);
void first_free(void* block);
void* first_memalign(std::size_t alignment, std::size_t bytes);
int first_posix_memalign(void** block, std::size_t alignment, std::size_t bytes);
void* first_valloc(std::size_t bytes);
std::size_t first_usable_size(void* block);

// --- the allocator ---------------------------------------------------------------------------------------------------

struct Allocator {
  void* (*malloc)(std::size_t) = first_malloc;
  void* (*calloc)(std::size_t, std::size_t) = first_calloc;
  void* (*realloc)(void*, std::size_t) = first_realloc;
  void (*free)(void*) = first_free;
  void* (*memalign)(std::size_t, std::size_t) = first_memalign;
  void* (*aligned_alloc)(std::size_t, std::size_t) = first_memalign;
  int (*posix_memalign)(void**, std::size_t, std::size_t) = first_posix_memalign;
  void* (*valloc)(std::size_t) = first_valloc;
  void* (*pvalloc)(std::size_t) = first_valloc;
  std::size_t (*usable_size)(void*) = first_usable_size;
};

constinit Allocator next{};
constinit std::atomic<std::size_t> threshold{SIZE_MAX};  ///< smallest size, in bytes, of blocks that come from the heap
constinit const char* problem = "nothing has been allocated yet";
constinit std::atomic<bool> resolving{false};

template <class Function>
void find_next(Function*& place, const char* name) {
  if (void* const found = dlsym(RTLD_NEXT, name)) place = reinterpret_cast<Function*>(found);
}

/// The reason why large blocks do not come from the heap; nullptr: they do.
const char* why_not(std::size_t least_bytes) {
  if (least_bytes == SIZE_MAX) return "SWAPMEET_HEAP is not set, or cannot be used";
  for (const char* const name : {"__asan_init", "__msan_init", "__tsan_init", "__hwasan_init"})
    if (dlsym(RTLD_DEFAULT, name)) return "a sanitizer watches over malloc";
  const void* const c_library = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  Dl_info home, standard;
  if (!c_library || !dladdr(c_library, &standard)) return "the C library is not glibc";
  for (void* const function : {reinterpret_cast<void*>(next.malloc), reinterpret_cast<void*>(next.free)})
    if (!dladdr(function, &home) || home.dli_fbase != standard.dli_fbase) return "another allocator serves malloc";
  for (const char* const name : {"malloc", "free", "realloc", "calloc"})
    if (!dladdr(dlsym(RTLD_DEFAULT, name), &home) || !dladdr(reinterpret_cast<void*>(&find_next<void()>), &standard) ||
        home.dli_fbase != standard.dli_fbase)
      return "another allocator serves malloc";
  return heap::problem();
}

/// Finds the allocator. Called by the first allocation, before the process has several threads.
void resolve() {
  if (resolving.exchange(true)) return;
  Allocator found;
  find_next(found.malloc, "malloc");
  find_next(found.calloc, "calloc");
  find_next(found.realloc, "realloc");
  find_next(found.free, "free");
  find_next(found.memalign, "memalign");
  find_next(found.aligned_alloc, "aligned_alloc");
  find_next(found.posix_memalign, "posix_memalign");
  find_next(found.valloc, "valloc");
  find_next(found.pvalloc, "pvalloc");
  find_next(found.usable_size, "malloc_usable_size");
  next = found;
}

__attribute__((constructor)) void decide() {
  resolve();
  const std::size_t least_bytes = swapmeet::least_block_bytes(std::getenv("SWAPMEET_HEAP"));
  problem = why_not(least_bytes);
  if (!problem) threshold.store(least_bytes, std::memory_order_relaxed);
}

/// Calls the function of the allocator. If the search for the allocator is under way, calls `otherwise`.
template <class Function, class Otherwise, class... Arguments>
auto once_found(Function* Allocator::* function, Function* placeholder, Otherwise otherwise, Arguments... arguments) {
  resolve();
  return next.*function == placeholder ? otherwise() : (next.*function)(arguments...);
}

void* first_malloc(std::size_t bytes) {
  return once_found(&Allocator::malloc, &first_malloc, [&] { return first.take(bytes, 16); }, bytes);
}

void* first_calloc(std::size_t count, std::size_t bytes) {
  const auto take = [&]() -> void* {
    std::size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) return errno = ENOMEM, nullptr;
    return first.take(all, 16);  // the memory is zero
  };
  return once_found(&Allocator::calloc, &first_calloc, take, count, bytes);
}

void* first_realloc(void* block, std::size_t bytes) {
  return once_found(
      &Allocator::realloc, &first_realloc, [] { return errno = ENOMEM, static_cast<void*>(nullptr); }, block, bytes);
}

void first_free(void* block) {
  once_found(&Allocator::free, &first_free, [] {}, block);
}

void* first_memalign(std::size_t alignment, std::size_t bytes) {
  const auto take = [&] { return first.take(bytes, std::max<std::size_t>(alignment, 16)); };
  return once_found(&Allocator::memalign, &first_memalign, take, alignment, bytes);
}

int first_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const auto take = [&] { return (*block = first.take(bytes, std::max<std::size_t>(alignment, 16))) ? 0 : ENOMEM; };
  return once_found(&Allocator::posix_memalign, &first_posix_memalign, take, block, alignment, bytes);
}

void* first_valloc(std::size_t bytes) {
  return once_found(&Allocator::valloc, &first_valloc, [&] { return first.take(bytes, heap::page_bytes); }, bytes);
}

std::size_t first_usable_size(void* block) {
  return once_found(&Allocator::usable_size, &first_usable_size, [] { return std::size_t{0}; }, block);
}

// --- large blocks ----------------------------------------------------------------------------------------------------

bool is_large(std::size_t bytes) { return bytes >= threshold.load(std::memory_order_relaxed) && bytes <= PTRDIFF_MAX; }

constexpr bool is_power_of_two(std::size_t number) { return number > 0 && (number & (number - 1)) == 0; }

[[gnu::noinline]] void* large(std::size_t bytes, std::size_t alignment, bool zero = false) {
  return heap::take(bytes, alignment, zero);
}

/// Ends the process, as glibc does when a pointer that is not a block is freed.
[[gnu::noinline, gnu::cold]] void invalid(const char* call) {
  const auto say = [](const char* text) { static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text))); };
  say("swapmeet: ");
  say(call);
  say("(): invalid pointer\n");
  std::abort();
}

[[gnu::noinline]] void free_large(void* block) {
  if (!heap::give(block)) invalid("free");
}

/// Moves the content of a block to `moved`, and frees the block. Returns nullptr, without a change, if `moved` is
/// nullptr.
void* move(void* block, std::size_t bytes, void* moved, void (*release)(void*)) {
  if (!moved) return nullptr;
  std::memcpy(moved, block, bytes);
  release(block);
  return moved;
}

[[gnu::noinline]] void* resize_large(void* block, std::size_t bytes) {
  const std::size_t had = heap::bytes_of(block);
  if (had == 0) invalid("realloc");
  if (bytes == 0) return free_large(block), nullptr;
  if (!is_large(bytes)) {  // small from now on, or larger than the largest possible block
    return move(block, std::min(had, bytes), next.malloc(bytes), free_large);
  }
  if (heap::resize(block, bytes)) return block;
  // A block that grows is likely to grow again: it gets additional room, which takes no memory until it is accessed.
  void* moved = bytes > had ? heap::take(bytes + bytes / 2, 1, false) : nullptr;
  if (!moved) moved = heap::take(bytes, 1, false);
  if (!moved) moved = next.malloc(bytes);
  return move(block, std::min(had, bytes), moved, free_large);
}

[[gnu::noinline]] void* grow_to_large(void* block, std::size_t bytes) {
  return move(block, std::min(next.usable_size(block), bytes), large(bytes, 1), next.free);
}

}  // namespace

SWAPMEET_EXPORT void* malloc(std::size_t bytes) {
  if (is_large(bytes)) [[unlikely]]
    if (void* const block = large(bytes, 1)) return block;
  return next.malloc(bytes);
}

SWAPMEET_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t all;
  if (!__builtin_mul_overflow(count, bytes, &all) && is_large(all)) [[unlikely]]
    if (void* const block = large(all, 1, true)) return block;
  return next.calloc(count, bytes);
}

SWAPMEET_EXPORT void free(void* block) {
  if (heap::holds(block)) [[unlikely]]
    return free_large(block);
  if (first.holds(block)) [[unlikely]]
    return;
  next.free(block);
}

SWAPMEET_EXPORT void* realloc(void* block, std::size_t bytes) {
  if (!block) return malloc(bytes);
  if (heap::holds(block)) [[unlikely]]
    return resize_large(block, bytes);
  if (first.holds(block)) [[unlikely]]
    return move(block, first.most_bytes_of(block, bytes), malloc(bytes), [](void*) {});
  if (is_large(bytes)) [[unlikely]]
    if (void* const moved = grow_to_large(block, bytes)) return moved;
  return next.realloc(block, bytes);
}

SWAPMEET_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  if (is_large(bytes) && is_power_of_two(alignment)) [[unlikely]]
    if (void* const block = large(bytes, alignment)) return block;
  return next.memalign(alignment, bytes);
}

SWAPMEET_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (is_large(bytes) && is_power_of_two(alignment)) [[unlikely]]
    if (void* const block = large(bytes, alignment)) return block;
  return next.aligned_alloc(alignment, bytes);
}

SWAPMEET_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (is_large(bytes) && is_power_of_two(alignment) && alignment % sizeof(void*) == 0) [[unlikely]]
    if (void* const taken = large(bytes, alignment)) return *block = taken, 0;
  return next.posix_memalign(block, alignment, bytes);
}

SWAPMEET_EXPORT void* valloc(std::size_t bytes) {
  if (is_large(bytes)) [[unlikely]]
    if (void* const block = large(bytes, 1)) return block;
  return next.valloc(bytes);
}

SWAPMEET_EXPORT void* pvalloc(std::size_t bytes) {
  if (is_large(bytes)) [[unlikely]]
    if (void* const block = large(bytes, 1)) return block;
  return next.pvalloc(bytes);
}

SWAPMEET_EXPORT std::size_t malloc_usable_size(void* block) {
  if (block && heap::holds(block)) [[unlikely]]
    return heap::bytes_of(block);
  return first.holds(block) ? 0 : next.usable_size(block);
}

/// Exports the functions of the heap to the library that exchanges blocks.
SWAPMEET_EXPORT const heap::Functions* swapmeet_heap_functions() {
  static constexpr heap::Functions functions{heap::find, [] { return problem; }};
  return &functions;
}
