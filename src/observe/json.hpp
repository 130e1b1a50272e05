/// The little that is needed to write JSON.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace swapmeet {

/// `text` as a JSON string. Control characters become blanks.
inline std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return json + '"';
}

/// As JSON has it.
inline std::string number(std::integral auto value) { return std::to_string(value); }

}  // namespace swapmeet
