/// Poisoning of shared memory for AddressSanitizer: this process marks bytes that it must not access until it unmarks
/// them. An access by this process is then reported; accesses by other processes are not. Other builds mark nothing.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace swapmeet {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool poisons = true;  ///< whether accesses are checked
#else
inline constexpr bool poisons = false;
#endif

/// Requires that `memory` is a multiple of 8.
inline void poison([[maybe_unused]] const char* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_poison_memory_region(memory, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const char* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace swapmeet
