/// Words of texts: names of enumerators, in their order, of which one table serves parsers, printers and messages; and
/// numbers.
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

/// Sets `value` if all of `text` is a decimal number, such as 0.5 or 1e6, in any locale. GCC 10's std::from_chars has none.
bool read_decimal(std::string_view text, double& value);

/// Whether all of `text` is a number of least..most; sets `value` if it is.
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

/// Bytes of the UTF-8 character at the beginning of `text`; 0: there is none, or it is a control character.
std::size_t character_bytes(std::string_view text);

/// `text` with `mask` for each control character and each byte that is not UTF-8.
std::string printable(std::string_view text, char mask);

/// `text` in quotation marks for a message: at most `most` bytes of it, what is not printable replaced.
std::string in_quotes(std::string_view text, std::size_t most = 80);

/// `value` with so many decimals, or significant digits, and a decimal point in any locale: what programs read, and messages.
std::string fixed_text(double value, int decimals);
std::string short_text(double value, int digits);

/// A time for a message, as in "12.3 us".
std::string microseconds(double seconds);

/// The candidate with the smallest edit distance to `word`, or "" if none is near enough to be meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace swapmeet
