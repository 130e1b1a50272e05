/// The little that is needed to write JSON.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "schedule/names.hpp"

namespace swapmeet {

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
