/// Names of enumerators, in their order: one table serves the parsers, the printers and the error messages.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

inline constexpr std::array<std::string_view, 3> buffer_names{"send", "receive", "scratch"};
inline constexpr std::array<std::string_view, 3> completion_names{"all", "any", "test"};
inline constexpr std::array<std::string_view, 2> posting_names{"receives-first", "interleaved"};

template <class Enum, std::size_t n>
std::optional<Enum> named(std::string_view name, const std::array<std::string_view, n>& names) {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

/// `text` in quotation marks for a message: at most `most` bytes of it, control characters replaced.
std::string quoted(std::string_view text, std::size_t most = 80);

/// The candidate with the smallest edit distance to `word`, or "" if none is near enough to be meant.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace swapmeet
