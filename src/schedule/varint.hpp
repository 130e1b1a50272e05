/// Variable-length form of numbers that are not negative (LEB128). A byte holds seven bits of the number, least
/// significant first; its high bit says that more bytes follow.
#pragma once

#include <bit>
#include <cstdint>

namespace swapmeet {

inline constexpr int most_varint_bytes = 10;

constexpr std::int64_t varint_bytes(std::uint64_t number) { return (std::bit_width(number | 1) + 6) / 7; }

inline char* write_varint(char* to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<char>(number | 0x80);
  *to++ = static_cast<char>(number);
  return to;
}

/// Reads the number at `from` and moves `from` behind it.
inline std::uint64_t read_varint(const char*& from) {
  std::uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(*from++);
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80 || shift >= 63) return number;
  }
}

}  // namespace swapmeet
