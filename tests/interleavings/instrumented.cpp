/// What code compiled with -fsanitize=thread calls, and the C library's functions that touch shared memory. Here they lead
/// to the explorer, not to the sanitizer. Memory that ranks do not share is accessed as ever.
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "explorer.hpp"

namespace {

/// The explorer, if it wants to know of an access there.
Explorer* explorer_of(const volatile void* address) {
  Explorer* const explorer = Explorer::here();
  return explorer && explorer->shares(const_cast<const void*>(address)) ? explorer : nullptr;
}

void plain(const volatile void* address, std::size_t bytes, bool writes) {
  if (Explorer* const explorer = explorer_of(address))
    explorer->access(const_cast<const void*>(address), bytes, writes);
}

template <class Word>
Word load(const volatile Word* word, int order) {
  Explorer* const explorer = explorer_of(word);
  return explorer ? static_cast<Word>(explorer->load(const_cast<const Word*>(word), sizeof *word, order))
                  : __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

template <class Word>
void store(volatile Word* word, Word value, int order) {
  Explorer* const explorer = explorer_of(word);
  explorer ? explorer->store(const_cast<Word*>(word), sizeof *word, value, order)
           : __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

template <class Word, class Change>
Word modify(volatile Word* word, int order, Change change) {
  if (Explorer* const explorer = explorer_of(word))
    return static_cast<Word>(explorer->modify(const_cast<Word*>(word), sizeof *word, order,
                                              [&](std::uint64_t before) { return change(static_cast<Word>(before)); }));
  Word before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &before, change(before), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
  return before;
}

/// One that fails stores what was there: nobody can tell.
template <class Word>
int compare_exchange(volatile Word* word, Word* expected, Word desired, int order) {
  const Word before = modify(word, order, [&](Word now) { return now == *expected ? desired : now; });
  const bool same = before == *expected;
  *expected = before;
  return same;
}

bool may_read_others = true;

}  // namespace

void let_ranks_read_others(bool allowed) { may_read_others = allowed; }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define SIZE(bytes)                                                                  \
  void __tsan_read##bytes(void* address) { plain(address, bytes, false); }           \
  void __tsan_write##bytes(void* address) { plain(address, bytes, true); }           \
  void __tsan_unaligned_read##bytes(void* address) { plain(address, bytes, false); } \
  void __tsan_unaligned_write##bytes(void* address) { plain(address, bytes, true); }
SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)
#undef SIZE
void __tsan_read_range(void* address, unsigned long bytes) { plain(address, bytes, false); }
void __tsan_write_range(void* address, unsigned long bytes) { plain(address, bytes, true); }

#define WORD(bits, Word)                                                                                               \
  Word __tsan_atomic##bits##_load(const volatile Word* word, int order) { return load(word, order); }                  \
  void __tsan_atomic##bits##_store(volatile Word* word, Word value, int order) { store(word, value, order); }          \
  Word __tsan_atomic##bits##_exchange(volatile Word* word, Word value, int order) {                                    \
    return modify(word, order, [value](Word) { return value; });                                                       \
  }                                                                                                                    \
  Word __tsan_atomic##bits##_fetch_add(volatile Word* word, Word value, int order) {                                   \
    return modify(word, order, [value](Word before) { return static_cast<Word>(before + value); });                    \
  }                                                                                                                    \
  Word __tsan_atomic##bits##_fetch_sub(volatile Word* word, Word value, int order) {                                   \
    return modify(word, order, [value](Word before) { return static_cast<Word>(before - value); });                    \
  }                                                                                                                    \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile Word* word, Word* expected, Word desired, int order,      \
                                                    int) {                                                             \
    return compare_exchange(word, expected, desired, order);                                                           \
  }                                                                                                                    \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile Word* word, Word* expected, Word desired, int order, int) { \
    return compare_exchange(word, expected, desired, order);                                                           \
  }                                                                                                                    \
  Word __tsan_atomic##bits##_compare_exchange_val(volatile Word* word, Word expected, Word desired, int order, int) {  \
    compare_exchange(word, &expected, desired, order);                                                                 \
    return expected;                                                                                                   \
  }
WORD(8, std::uint8_t)
WORD(16, std::uint16_t)
WORD(32, std::uint32_t)
WORD(64, std::uint64_t)
#undef WORD
void __tsan_atomic_thread_fence(int order) {
  if (Explorer* const explorer = Explorer::here()) explorer->fence(order);
}
void __tsan_atomic_signal_fence(int) {}

// --wrap of the linker
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);
void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  plain(from, bytes, false);
  plain(to, bytes, true);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  plain(from, bytes, false);
  plain(to, bytes, true);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  plain(to, bytes, true);
  return __real_memset(to, value, bytes);
}

/// All ranks are this process.
ssize_t process_vm_readv(pid_t, const iovec* to, unsigned long to_count, const iovec* from, unsigned long from_count,
                         unsigned long) noexcept {
  if (!may_read_others) return errno = EPERM, -1;
  ssize_t read = 0;
  std::size_t source = 0, target = 0, source_done = 0, target_done = 0;
  while (source < from_count && target < to_count) {
    const std::size_t bytes = std::min(from[source].iov_len - source_done, to[target].iov_len - target_done);
    __wrap_memcpy(static_cast<char*>(to[target].iov_base) + target_done,
                  static_cast<const char*>(from[source].iov_base) + source_done, bytes);
    read += static_cast<ssize_t>(bytes);
    if ((source_done += bytes) == from[source].iov_len) ++source, source_done = 0;
    if ((target_done += bytes) == to[target].iov_len) ++target, target_done = 0;
  }
  return read;
}

/// Every time the same: executions are to repeat.
int sched_getcpu() noexcept { return 0; }
}
