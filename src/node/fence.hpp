/// Guards for AddressSanitizer: this process marks bytes of shared memory that it must not access until it unmarks
/// them. An access by this process is then reported; accesses by other processes are not. Other builds have no guards.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace swapmeet {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool fences = true;  ///< whether accesses are checked
#else
inline constexpr bool fences = false;
#endif

/// Requires that `memory` is a multiple of 8.
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
