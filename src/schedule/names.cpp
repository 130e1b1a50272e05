#include "schedule/names.hpp"

#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace swapmeet {

namespace {

/// Returns Levenshtein's distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// Formats `value`. The decimal mark of a locale, perhaps of several bytes, is every character that is not a digit, a
/// sign or a letter; it is replaced by a point.
std::string with_point(const char* format, int digits, double value) {
  char text[512];
  std::snprintf(text, sizeof text, format, digits, value);
  std::string number;
  for (const char* c = text; *c; ++c) {
    const bool of_number = std::string_view("0123456789+-einfa").find(*c) != std::string_view::npos;
    if (of_number) number += *c;
    else if (!number.ends_with('.')) number += '.';
  }
  return number;
}

}  // namespace

bool read_decimal(std::string_view text, double& value) {
  if (text.empty() || text.front() == '+' || text.find_first_not_of("0123456789.eE+-") != text.npos) return false;
  static const locale_t classic = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string digits(text);
  char* end = nullptr;
  const double number = strtod_l(digits.c_str(), &end, classic);
  if (end != digits.c_str() + digits.size() || !std::isfinite(number)) return false;
  value = number;
  return true;
}

std::size_t character_bytes(std::string_view text) {
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

std::string printable(std::string_view text, char mask) {
  std::string all;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    bytes > 0 ? all += text.substr(0, bytes) : all += mask;
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return all;
}

std::string in_quotes(std::string_view text, std::size_t most) {
  if (text.size() > most) {
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;  // do not cut a character
    text = text.substr(0, most);
  }
  return '"' + printable(text, '?') + '"';
}

std::string fixed_text(double value, int decimals) { return with_point("%.*f", decimals, value); }
std::string short_text(double value, int digits) { return with_point("%.*g", digits, value); }

std::string microseconds(double seconds) { return fixed_text(1e6 * seconds, seconds < 1e-4 ? 1 : 0) + " us"; }

std::string to_text(const Run& run) {
  std::string text = std::string(buffer_names[static_cast<std::size_t>(run.buffer)]) + '[' + std::to_string(run.first);
  if (run.count != 1) text += ".." + std::to_string(run.block(run.count - 1));
  if (run.count != 1 && run.stride != 1) text += '/' + std::to_string(run.stride);
  return text + ']';
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = word.size() / 3 + 2;  // words with larger distances are unrelated
  for (const std::string& candidate : candidates) {
    const bool beginning = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = beginning ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace swapmeet
