/// Functions that write JSON: a string, and a whole number.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "schedule/names.hpp"

namespace swapmeet {

/// Returns `text` as a JSON string, with a blank for each character that is not printable.
inline std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : printable(text, ' ')) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

/// Returns a whole number as JSON.
inline std::string number(std::integral auto value) { return std::to_string(value); }

}  // namespace swapmeet
