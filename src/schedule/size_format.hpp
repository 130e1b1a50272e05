/// How the sizes of a message's blocks are sent: numbers of 4 bytes; if one does not fit, a mark of 4 bytes and numbers
/// of 8. A sender that has no data, for something failed, sends another mark, numbers of 8 bytes, and nothing else.
#pragma once

#include <cstdint>

namespace swapmeet {

inline constexpr std::uint32_t wide_mark = UINT32_MAX, failed_mark = UINT32_MAX - 1;

inline constexpr std::int64_t number_bytes = sizeof(std::int64_t);
inline constexpr std::int64_t narrow_number_bytes = sizeof(std::uint32_t);

/// Whether numbers of 8 bytes are needed where the largest size is `largest`.
constexpr bool wide_sizes(std::int64_t largest) { return largest >= failed_mark; }

/// The bytes that the sizes of so many blocks take, the largest of which is known.
constexpr std::int64_t sizes_bytes(std::int64_t blocks, std::int64_t largest) {
  return wide_sizes(largest) ? narrow_number_bytes + number_bytes * blocks : narrow_number_bytes * blocks;
}

/// The most that the sizes of so many blocks take.
constexpr std::int64_t most_sizes_bytes(std::int64_t blocks) { return sizes_bytes(blocks, wide_mark); }

}  // namespace swapmeet
