/// Names of enumerators, in the order of the enumeration, and the text form of numbers. Parsers, printers and messages
/// all use these tables.
#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

inline constexpr std::array<std::string_view, 3> buffer_names{"send", "receive", "scratch"};
inline constexpr std::array<std::string_view, 3> completion_names{"all", "any", "test"};
inline constexpr std::array<std::string_view, 3> posting_names{"receives-first", "interleaved", "granted"};

template <class Enum, std::size_t n>
std::optional<Enum> named(std::string_view name, const std::array<std::string_view, n>& names) {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

/// Sets `value` and returns true if all of `text` is a decimal number, such as 0.5 or 1e6, whatever the locale is.
/// std::from_chars of GCC 10 does not read floating-point numbers.
bool read_decimal(std::string_view text, double& value);

/// Sets `value` and returns true if all of `text` is a number in least..most. `base`: of an integer; by default 10.
template <class Number>
bool read_number(std::string_view text, std::type_identity_t<Number> least, std::type_identity_t<Number> most,
                 Number& value, auto... base) {
  Number number{};
  if constexpr (std::is_same_v<Number, double>) {
    if (!read_decimal(text, number)) return false;
  } else {
    const auto [end, error] = std::from_chars(text.begin(), text.end(), number, base...);
    if (error != std::errc() || end != text.end()) return false;
  }
  if (!(number >= least && number <= most)) return false;
  value = number;
  return true;
}

/// Splits `text` at `separator` and calls read() for each piece. Returns false as soon as read() does.
template <class Read>
bool read_list(std::string_view text, char separator, Read read) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (!read(text.substr(0, end))) return false;
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
}

/// Returns the number of bytes of the UTF-8 character at the beginning of `text`, or 0 for a control character, an
/// invalid sequence or an empty text.
std::size_t character_bytes(std::string_view text);

/// Returns `text` with each control character and each byte that is not UTF-8 replaced by `mask`.
std::string printable(std::string_view text, char mask);

/// Returns at most `most` bytes of `text` in quotation marks, for messages. Unprintable bytes are replaced by "?".
std::string in_quotes(std::string_view text, std::size_t most = 80);

/// Returns `value` with the given number of decimals (fixed_text) or significant digits (short_text). The decimal mark
/// is a point in any locale, so programs can read it.
std::string fixed_text(double value, int decimals);
std::string short_text(double value, int digits);

/// Returns a run of blocks such as send[3], scratch[0..7] or receive[1..9/2].
std::string to_text(const Run& run);

/// Returns a time in microseconds for messages, such as "12.3 us".
std::string microseconds(double seconds);

/// Returns the candidate with the smallest edit distance to `word`, or "" if no candidate is similar enough.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace swapmeet
