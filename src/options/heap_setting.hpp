/// The setting SWAPMEET_HEAP, parsed without any allocation, since malloc() itself needs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace swapmeet {

inline constexpr std::size_t usual_block_bytes = 256 << 10;
inline constexpr std::size_t least_threshold = 4096;
/// The least block size for MPI_Alloc_mem, which programs do not use for very small blocks.
inline constexpr std::int64_t alloc_mem_block_bytes = 16 << 10;

/// Returns the least size, in bytes, of the blocks that come from the heap. `text` is 1 (the standard size) or a number
/// of bytes, such as 65536 or 1MiB. SIZE_MAX: no block comes from the heap, also if the text is neither.
constexpr std::size_t least_block_bytes(const char* text) {
  constexpr std::size_t none = SIZE_MAX, most = std::size_t{1} << 40;
  if (!text || !*text) return none;
  std::size_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    if ((number = number * 10 + static_cast<std::size_t>(*text - '0')) > most) return none;
  if (!*text && number == 1) return usual_block_bytes;
  const char unit = *text;
  if (unit == 'K' || unit == 'M' || unit == 'G') {
    const int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : 30;
    if (number > most >> shift) return none;
    number <<= shift;
    if (text[1] != 'i' || text[2] != 'B') return none;
    text += 3;
  }
  return !*text && number >= least_threshold && number <= most ? number : none;
}

}  // namespace swapmeet
