#include "evidence/line.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/names.hpp"

namespace swapmeet {

namespace {

constexpr int number_digits = 6;
constexpr std::int64_t year_2000_s = 946684800, year_9999_s = 253402300799;
constexpr Rank most_ranks = std::numeric_limits<Rank>::max();

bool is_rule(const Evidence& evidence) { return evidence.by == Measurer::user; }

/// Returns the name in lower case, such as "alltoallv".
std::string lower_name(Collective collective) {
  std::string name(name_of(collective));
  name.front() = 'a';
  return name;
}

std::optional<Collective> collective_named(std::string_view name) {
  for (std::size_t k = 0; k < alltoalls; ++k)
    if (name == lower_name(static_cast<Collective>(k))) return static_cast<Collective>(k);
  return std::nullopt;
}

/// Returns a range as 8, 2..4 or 4096.. if it has no end.
std::string range_text(const Range& range) {
  if (range.least == range.most) return std::to_string(range.least);
  return std::to_string(range.least) + ".." + (range.most == INT64_MAX ? "" : std::to_string(range.most));
}

/// Parses a range as range_text() writes it, of numbers from `range.least` to `most`. Returns false if it is none.
bool read_range(std::string_view text, std::int64_t most, Range& range) {
  const std::size_t dots = text.find("..");
  Range read{0, most};
  if (!read_number(text.substr(0, dots), range.least, most, read.least)) return false;
  if (dots == text.npos) read.most = read.least;
  else if (dots + 2 < text.size() && !read_number(text.substr(dots + 2), range.least, most, read.most)) return false;
  range = read;
  return true;
}

/// Parses a condition on `range`: of a rule a range, of a measurement a number.
std::string read_condition(std::string_view text, const Evidence& evidence, Range& range) {
  const std::string from = " from " + std::to_string(range.least) + " on";
  const bool read = is_rule(evidence) ? read_range(text, INT64_MAX, range)
                                      : read_number(text, range.least, std::int64_t{most_ranks}, range.least);
  if (!is_rule(evidence)) return range.most = range.least, read ? "" : "must be a number" + from;
  return read && range.least <= range.most ? "" : "must be a number, or a range such as 2..8 or 4096..," + from;
}

std::string condition_text(const Evidence& evidence, const Range& range, std::int64_t least) {
  return is_rule(evidence) && range == Range{least} ? "" : range_text(range);
}

std::string read_per_node(std::string_view text, Evidence& evidence) {
  Range& range = evidence.per_node;
  const bool read = !text.ends_with("..") && read_range(text, most_ranks, range);
  return read ? "" : "must be ranks of a node, or of the smallest and the largest, such as 8 or 7..8";
}

std::string read_block_bytes(std::string_view text, Evidence& evidence) {
  if (is_rule(evidence)) return read_condition(text, evidence, evidence.bytes);
  std::int64_t bytes = 0;
  if (text == "any") return evidence.bytes = {}, "";
  if (!read_number(text, 1, std::int64_t{1} << most_size_class, bytes) || (bytes & (bytes - 1)) != 0)
    return "must be a power of two, or any";
  return evidence.bytes = bytes_of_class(block_class(bytes)), "";
}

std::string block_bytes_text(const Evidence& evidence) {
  if (is_rule(evidence)) return condition_text(evidence, evidence.bytes, 0);
  const std::int32_t size_class = evidence.size_class();
  return size_class == unknown_class ? "any" : std::to_string(std::int64_t{1} << size_class);
}

std::string read_spec(std::string_view text, Evidence& evidence) {
  const Result<Spec> spec = parse_spec(text);
  if (!spec) return spec.problem().what;
  return evidence.spec = *spec, "";
}

std::string read_count(std::string_view text, std::int64_t& count) {
  return read_number(text, 1, INT64_MAX, count) ? "" : "must be a number from 1 on";
}

std::string read_microseconds(std::string_view text, double& seconds) {
  double microseconds = 0;
  if (!read_number(text, 0, 1e6 * most_seconds, microseconds)) return "must be microseconds, of a day at most";
  return seconds = microseconds / 1e6, "";
}

std::string microseconds_text(double seconds) { return short_text(1e6 * seconds, number_digits); }

std::string read_measurer(std::string_view text, Evidence& evidence) {
  const auto measurer = named<Measurer>(text, measurer_names);
  if (!measurer || *measurer == Measurer::model || *measurer == Measurer::user)
    return "must be calibration, trial or tune";
  return evidence.by = *measurer, "";
}

/// Parses a time such as "2026-01-02T03:04:05Z".
std::string read_date(std::string_view text, Evidence& evidence) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z", wrong = "must be a time such as 2026-01-02T03:04:05Z";
  const auto fits = [](char c, char like) { return like == '0' ? c >= '0' && c <= '9' : c == like; };
  if (text.size() != form.size() || !std::ranges::equal(text, form, fits)) return std::string(wrong);
  const auto number = [&](std::size_t first, std::size_t digits) {
    int value = 0;
    for (const char digit : text.substr(first, digits)) value = 10 * value + (digit - '0');
    return value;
  };
  const int month = number(5, 2), of_month = number(8, 2), hour = number(11, 2), minute = number(14, 2),
            second = number(17, 2);
  std::tm day{};
  day.tm_year = number(0, 4) - 1900, day.tm_mon = month - 1, day.tm_mday = of_month;
  const std::time_t begin = timegm(&day);  // corrects a day such as February 30
  if (day.tm_mon != month - 1 || day.tm_mday != of_month || hour > 23 || minute > 59 || second > 60)
    return std::string(wrong);
  return evidence.date = begin + (hour * 60 + minute) * 60 + second, "";
}

std::string read_program(std::string_view text, Evidence& evidence) {
  constexpr std::size_t digits = 16;
  const bool read = text.size() == digits && read_number(text, 0, UINT64_MAX, evidence.made.program, 16);
  return read ? "" : "must be 16 hexadecimal digits";
}

/// A word KEY=VALUE of a line.
struct Word {
  std::string_view key;
  bool of_rules;
  std::string (*read)(std::string_view value, Evidence& evidence);  ///< returns "" or the problem
  std::string (*text)(const Evidence& evidence);                    ///< returns "" if the word is missing
};

constexpr std::string_view first_optional = "made";
const Word words[] = {
    {"ranks", true, [](std::string_view v, Evidence& e) { return read_condition(v, e, e.ranks); },
     [](const Evidence& e) { return condition_text(e, e.ranks, 2); }},
    {"nodes", true, [](std::string_view v, Evidence& e) { return read_condition(v, e, e.nodes); },
     [](const Evidence& e) { return condition_text(e, e.nodes, 1); }},
    {"per-node", false, read_per_node, [](const Evidence& e) { return condition_text(e, e.per_node, 1); }},
    {"bytes", true, read_block_bytes, block_bytes_text},
    {"use", true, read_spec, [](const Evidence& e) { return to_text(e.spec); }},
    {"calls", false, [](std::string_view v, Evidence& e) { return read_count(v, e.calls); },
     [](const Evidence& e) { return std::to_string(e.calls); }},
    {"mean_us", false, [](std::string_view v, Evidence& e) { return read_microseconds(v, e.mean_s); },
     [](const Evidence& e) { return microseconds_text(e.mean_s); }},
    {"spread_us", false, [](std::string_view v, Evidence& e) { return read_microseconds(v, e.spread_s); },
     [](const Evidence& e) { return microseconds_text(e.spread_s); }},
    {"by", false, read_measurer,
     [](const Evidence& e) { return std::string(measurer_names[static_cast<std::size_t>(e.by)]); }},
    {"date", false, read_date, [](const Evidence& e) { return date_text(e.date); }},
    {"made", false, [](std::string_view v, Evidence& e) { return read_count(v, e.made.calls); },
     [](const Evidence& e) { return e.made.calls > 0 ? std::to_string(e.made.calls) : ""; }},
    {"program", false, read_program,
     [](const Evidence& e) { return e.made.calls > 0 ? hexadecimal(e.made.program) : ""; }},
};

/// Reads the value of a word into `evidence`. Returns "" or the problem.
std::string read_word(const Word& word, std::string_view value, Evidence& evidence) {
  if (is_rule(evidence) && word.key == "bytes" && of_unequal_blocks(evidence.collective))
    return "ranks do not know the sizes of all unequal blocks, so no rule of " + lower_name(evidence.collective) +
           " has bytes=; a spec can have direct=";
  const std::string wrong = word.read(value, evidence);
  return wrong.empty() ? "" : std::string(word.key) + '=' + in_quotes(value, 100) + ": " + wrong;
}

/// Reads the words of a line from the third on: of a measurement in the order of `words`, of a rule in any order up to
/// a comment.
Result<Evidence> read_words(const Lines& line, Evidence evidence) {
  const bool rule = is_rule(evidence);
  const std::vector<std::string_view>& texts = line.words();
  std::vector<std::string_view> seen;
  std::size_t at = 2;
  for (; rule ? at < texts.size() && !texts[at].starts_with('#') : at < 2 + std::size(words); ++at) {
    const std::string_view text = at < texts.size() ? texts[at] : "", key = text.substr(0, text.find('='));
    const Word* const word = rule ? std::ranges::find(words, key, &Word::key) : &words[at - 2];
    if (text.empty() && word->key == first_optional) break;
    if (rule && (word == std::end(words) || !word->of_rules))
      return line.at(at, in_quotes(text, 40) + ": no such word; there are ranks=, nodes=, bytes= and use=");
    if (word->key != key)
      return line.at(at, in_quotes(text, 40) + ": here " + std::string(word->key) + "= is expected");
    if (std::ranges::count(seen, key) > 0) return line.at(at, std::string(key) + "= is there twice");
    seen.push_back(key);
    std::string wrong = read_word(*word, text.substr(std::min(key.size() + 1, text.size())), evidence);
    if (!wrong.empty()) return line.at(at, std::move(wrong));
  }
  if (rule && std::ranges::count(seen, "use") == 0) return line.at(at, "a rule without use=SPEC");
  if (!rule && at < texts.size()) return line.at(at, "more words than there are");
  if (!rule && (evidence.date < year_2000_s || evidence.date > year_9999_s)) return line.at(at, "before the year 2000");
  if (!rule && !plausible(evidence)) return line.here("its numbers contradict one another");
  return evidence;
}

}  // namespace

std::string date_text(std::int64_t date) {
  const std::time_t when = date;
  std::tm parts{};
  gmtime_r(&when, &parts);
  char text[96];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string evidence_line(const Evidence& evidence) {
  std::string line(is_rule(evidence) ? rule_word : measurement_word);
  line += ' ' + lower_name(evidence.collective);
  for (const Word& word : words) {
    if (is_rule(evidence) && !word.of_rules) continue;
    if (const std::string value = word.text(evidence); !value.empty())
      line += ' ' + std::string(word.key) + '=' + value;
  }
  return line;
}

Result<Evidence> parse_evidence(const Lines& line) {
  Evidence evidence;
  const bool rule = line.words().front() == rule_word;
  if (!rule && line.words().front() != measurement_word) return line.here("must begin with took:");
  if (rule) evidence.by = Measurer::user;
  const std::string_view name = line.words().size() > 1 ? line.words()[1] : "";
  const std::optional<Collective> collective = collective_named(name);
  if (!collective)
    return line.at(1, std::string(rule ? "a rule is for" : "it is of") + " alltoall, alltoallv or alltoallw, not " +
                          in_quotes(name, 40));
  evidence.collective = *collective;
  return read_words(line, std::move(evidence));
}

}  // namespace swapmeet
