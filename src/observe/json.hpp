/// The little that is needed to write JSON.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace swapmeet {

/// Bytes of the UTF-8 character at the beginning of `text`; 0: there is none, or it is a control character.
inline std::size_t character_bytes(std::string_view text) {
  const auto at = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = at(0);
  if (lead < 0x80) return lead >= ' ' && lead != 0x7f;
  if (lead < 0xc0 || lead >= 0xf8) return 0;
  const std::size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  std::uint32_t point = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (at(i) & 0x3f);
  }
  constexpr std::uint32_t least[]{0, 0, 0xa0, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return point >= least[bytes] && point <= 0x10ffff && !surrogate ? bytes : 0;
}

/// `text` with `mask` for each control character and each byte that is not UTF-8.
inline std::string printable(std::string_view text, char mask) {
  std::string all;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    bytes > 0 ? all += text.substr(0, bytes) : all += mask;
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return all;
}

/// `text` as a JSON string, with blanks for what is not printable.
inline std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : printable(text, ' ')) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

/// As JSON has it.
inline std::string number(std::integral auto value) { return std::to_string(value); }

}  // namespace swapmeet
