/// Under AddressSanitizer: bytes of shared memory that this process must not touch for now, and may touch again. A process
/// that does is reported; one that was not told is not. Nothing in other builds.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace swapmeet {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool fences = true;  ///< whether anything is watched
#else
inline constexpr bool fences = false;
#endif

/// `memory` is a multiple of 8.
inline void fence_off([[maybe_unused]] const char* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_poison_memory_region(memory, bytes);
#endif
}

inline void open_up([[maybe_unused]] const char* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace swapmeet
