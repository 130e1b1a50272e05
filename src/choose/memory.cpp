#include "choose/memory.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "options/line.hpp"
#include "options/tuning.hpp"
#include "schedule/kernel_file.hpp"
#include "schedule/names.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr std::string_view first_line = "swapmeet-memory 1";
constexpr std::string_view first_words = "swapmeet-memory ";
constexpr std::string_view explanation =
    "# What took how long in programs that ran with Swapmeet (docs/tuning.md): `swapmeet tuning show`. It may be "
    "deleted.";
constexpr std::size_t most_bytes_of_a_line = 1000;
constexpr std::int64_t least_calls = 8;  ///< minimum number of calls for an interval
constexpr int number_digits = 6;
constexpr std::int64_t year_2000_s = 946684800, year_9999_s = 253402300799;

std::string date_text(std::int64_t date) {
  const std::time_t when = date;
  std::tm parts{};
  gmtime_r(&when, &parts);
  char text[96];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text;
}

/// Parses a time such as "2026-01-02T03:04:05Z". Returns false if it is none.
bool read_date(std::string_view text, std::int64_t& date) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  int part[6];
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
  constexpr int begins[] = {0, 5, 8, 11, 14, 17}, most[] = {9999, 12, 31, 23, 59, 60};
  for (int i = 0; i < 6; ++i)
    if (!read_number(text.substr(static_cast<std::size_t>(begins[i]), i == 0 ? 4 : 2), 0, most[i], part[i]))
      return false;
  std::tm day{};
  day.tm_year = part[0] - 1900, day.tm_mon = part[1] - 1, day.tm_mday = part[2];
  const std::time_t begins_at = timegm(&day);
  if (day.tm_mon != part[1] - 1 || day.tm_mday != part[2]) return false;  // a day such as February 30
  date = begins_at + (part[3] * 60 + part[4]) * 60 + part[5];
  return true;
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string made_text(const CallsMade& made) {
  return made.calls > 0 ? " made=" + std::to_string(made.calls) + " program=" + hexadecimal(made.program) : "";
}

/// Parses a hexadecimal number of 16 digits. Returns false if it is none.
bool read_hexadecimal(std::string_view text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number, 16);
  return error == std::errc{} && last == end && text.size() == hexadecimal(0).size();
}

/// Stores one word of an evidence line in `evidence`. Returns "" or the problem.
std::string read_word(std::string_view key, std::string_view value, Evidence& evidence) {
  CallKind& kind = evidence.kind;
  constexpr Rank most_ranks = std::numeric_limits<Rank>::max();
  const std::size_t dots = value.find("..");
  if (key == "ranks") return read_number(value, 2, most_ranks, kind.ranks) ? "" : "must be a number from 2 on";
  if (key == "nodes") return read_number(value, 1, most_ranks, kind.nodes) ? "" : "must be a number from 1 on";
  if (key == "per-node") {
    const bool read =
        read_number(value.substr(0, dots), 1, most_ranks, kind.least_per_node) &&
        read_number(dots == value.npos ? value : value.substr(dots + 2), 1, most_ranks, kind.most_per_node);
    return read ? "" : "must be ranks of a node, or of the smallest and the largest, such as 8 or 7..8";
  }
  if (key == "bytes") {
    std::int64_t bytes = 0;
    if (value == "any") return kind.size_class = unknown_class, "";
    if (!read_number(value, 1, std::int64_t{1} << most_size_class, bytes) || (bytes & (bytes - 1)) != 0)
      return "must be a power of two, or any";
    return kind.size_class = block_class(bytes), "";
  }
  if (key == "use") {
    const Result<Spec> spec = parse_spec(value);
    if (!spec) return spec.problem().what;
    return evidence.spec = *spec, "";
  }
  if (key == "calls" || key == "made")
    return read_number(value, 1, INT64_MAX, key == "calls" ? evidence.calls : evidence.made.calls)
               ? ""
               : "must be a number from 1 on";
  if (key == "program") return read_hexadecimal(value, evidence.made.program) ? "" : "must be 16 hexadecimal digits";
  if (key == "mean_us" || key == "spread_us") {
    double microseconds = 0;
    if (!read_number(value, 0, 1e6 * most_seconds, microseconds)) return "must be microseconds, of a day at most";
    return (key == "mean_us" ? evidence.mean_s : evidence.spread_s) = microseconds / 1e6, "";
  }
  if (key == "date") return read_date(value, evidence.date) ? "" : "must be a time such as 2026-01-02T03:04:05Z";
  if (key != "by") return "no such word";
  const auto measurer = named<Measurer>(value, measurer_names);
  if (!measurer || *measurer == Measurer::model) return "must be calibration, trial or tune";
  return evidence.by = *measurer, "";
}

constexpr std::string_view words[] = {"ranks",   "nodes",     "per-node", "bytes", "use",  "calls",
                                      "mean_us", "spread_us", "by",       "date",  "made", "program"};

/// The bounds of the interval of two standard deviations of the mean.
double upper_s(const Evidence& evidence) { return evidence.mean_s + 2 * evidence.spread_s; }
double lower_s(const Evidence& evidence) { return evidence.mean_s - 2 * evidence.spread_s; }

/// Returns the spec to use, by evidence of one kind; nullptr if it is not certain. Sets `native` to the evidence of the
/// host MPI.
const Evidence* fastest(const std::vector<const Evidence*>& all, const Evidence*& native) {
  const Evidence* sure = nullptr;
  native = nullptr;
  for (const Evidence* one : all)
    if (one->spec.family == Family::native) native = one;
  if (!native) return nullptr;
  for (const Evidence* one : all)
    if (one != native && upper_s(*one) < lower_s(*native) && (!sure || upper_s(*one) < upper_s(*sure))) sure = one;
  if (sure) return sure;
  const auto faster = [&](const Evidence* one) { return one == native || upper_s(*native) < lower_s(*one); };
  return all.size() > 1 && std::ranges::all_of(all, faster) ? native : nullptr;
}

/// Groups evidence with enough calls by kind, with one entry for each spec.
std::map<CallKind, std::vector<const Evidence*>> by_kind(std::span<const Evidence> evidence) {
  std::map<CallKind, std::vector<const Evidence*>> kinds;
  for (const Evidence& one : evidence) {
    if (one.calls < least_calls) continue;
    std::vector<const Evidence*>& all = kinds[one.kind];
    const auto same = std::ranges::find_if(all, [&](const Evidence* other) { return other->spec == one.spec; });
    if (same == all.end()) all.push_back(&one);
    else if ((*same)->by < one.by) *same = &one;
  }
  for (auto& [kind, all] : kinds)
    std::ranges::sort(all, {}, [](const Evidence* one) { return std::pair(to_text(one->spec), one->by); });
  return kinds;
}

}  // namespace

std::string MemoryKey::file_name() const {
  TextHash hash;
  for (const std::string_view part :
       {first_line, std::string_view(mpi), std::string_view(machine), std::string_view(library)})
    hash.add(std::string(part) + '\n');
  std::string name = mpi + '-' + hexadecimal(hash.value()) + ".memory";
  std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '/'; }, '-');
  return name;
}

std::string host_class(std::string_view host) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (host.size() == 12 && host.find_first_not_of("0123456789abcdef") == host.npos) return "container";
  std::string name;
  for (std::size_t i = 0; i < host.size(); ++i)
    if (!digit(host[i])) name += host[i] > ' ' && host[i] <= '~' ? host[i] : '?';
    else if (i == 0 || !digit(host[i - 1])) name += '#';
  return name;
}

std::string cluster_signature() {
  utsname name{};
  uname(&name);
  return machine_signature() + ", host " + host_class(name.nodename);
}

std::uint64_t program_number() {
  const std::string words = read_kernel_file("/proc/self/cmdline");
  TextHash hash;
  std::size_t begin = 0;
  for (int word = 0; word < 2 && begin < words.size(); ++word) {
    const std::size_t end = std::min(words.find('\0', begin), words.size());
    const std::string_view path = std::string_view(words).substr(begin, end - begin);
    hash.add(std::string(path.substr(path.rfind('/') + 1)) + '\0');
    begin = end + 1;
  }
  return words.empty() ? 0 : hash.value();
}

std::string evidence_line(const Evidence& evidence) {
  const CallKind& kind = evidence.kind;
  const std::string per_node =
      std::to_string(kind.least_per_node) +
      (kind.most_per_node == kind.least_per_node ? "" : ".." + std::to_string(kind.most_per_node));
  const std::string bytes =
      kind.size_class == unknown_class ? "any" : std::to_string(std::int64_t{1} << kind.size_class);
  return "took: " + lower_name(kind.collective) + " ranks=" + std::to_string(kind.ranks) +
         " nodes=" + std::to_string(kind.nodes) + " per-node=" + per_node + " bytes=" + bytes +
         " use=" + to_text(evidence.spec) + " calls=" + std::to_string(evidence.calls) +
         " mean_us=" + short_text(1e6 * evidence.mean_s, number_digits) +
         " spread_us=" + short_text(1e6 * evidence.spread_s, number_digits) +
         " by=" + std::string(measurer_names[static_cast<std::size_t>(evidence.by)]) +
         " date=" + date_text(evidence.date) + made_text(evidence.made);
}

Result<Evidence> parse_evidence(std::string_view text, int number) {
  Line line(text, number);
  Evidence evidence;
  if (line.word() != "took:") return line.problem("must begin with took:");
  const std::string_view name = line.word();
  const std::optional<Collective> collective = collective_named(name);
  if (!collective) return line.problem("it is of alltoall, alltoallv or alltoallw, not " + in_quotes(name, 40));
  evidence.kind.collective = *collective;
  for (const std::string_view expected : words) {
    const std::string_view word = line.word();
    if (word.empty() && expected == "made") break;  // both of that may be missing
    const std::size_t equals = std::min(word.find('='), word.size());
    if (word.substr(0, equals) != expected)
      return line.problem(in_quotes(word, 40) + ": here " + std::string(expected) + "= is expected");
    const std::string wrong = read_word(expected, word.substr(std::min(equals + 1, word.size())), evidence);
    if (!wrong.empty()) return line.problem(in_quotes(word, 100) + ": " + wrong);
  }
  if (!line.word().empty()) return line.problem("more words than there are");
  if (evidence.date < year_2000_s || evidence.date > year_9999_s) return line.problem("before the year 2000");
  if (!plausible(evidence)) return Line(text, number).problem("its numbers contradict one another");
  return evidence;
}

Result<Remembered> parse_memory(std::string_view text) {
  Remembered remembered;
  bool begun = false;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const bool cut_off = end == text.npos;
    const std::string_view content = text.substr(0, end);
    text.remove_prefix(cut_off ? text.size() : end + 1);
    Line line(content.substr(0, most_bytes_of_a_line), number);
    if (!begun) {
      const std::string_view words = line.rest();
      if (words.starts_with(first_words) && words != first_line)
        return line.problem("of another version: " + in_quotes(words, 40));
      if (words != first_line)
        return line.problem("no memory of Swapmeet: it must begin with " + in_quotes(first_line, 40));
      begun = true;
      continue;
    }
    const std::string_view key = line.word();
    if (key.empty() || key.starts_with('#')) continue;
    std::string* const named = key == "mpi:"       ? &remembered.key.mpi
                               : key == "machine:" ? &remembered.key.machine
                               : key == "library:" ? &remembered.key.library
                                                   : nullptr;
    if (named) {
      *named = line.rest();
      continue;
    }
    ++remembered.lines;
    const Result<Evidence> read = cut_off                                 ? line.problem("it is cut off")
                                  : content.size() > most_bytes_of_a_line ? line.problem("more than 1000 characters")
                                                                          : parse_evidence(content, number);
    if (read) remembered.evidence.push_back(*read);
    else if (++remembered.unusable == 1) remembered.first = read.problem();
  }
  if (!begun) return Problem{"no memory of Swapmeet: it is empty"};
  const MemoryKey& key = remembered.key;
  if (key.mpi.empty() || key.machine.empty() || key.library.empty())
    return Problem{"a line mpi:, machine: or library: is missing"};
  return remembered;
}

std::string memory_text(const MemoryKey& key, const std::vector<Evidence>& evidence) {
  std::string text(first_line);
  text += '\n' + std::string(explanation) + "\nmpi: " + key.mpi + "\nmachine: " + key.machine +
          "\nlibrary: " + key.library + '\n';
  for (const Evidence& one : evidence) text += evidence_line(one) + '\n';
  return text;
}

void merge(std::vector<Evidence>& known, const Evidence& more) {
  Evidence* same = nullptr;
  CallsMade made = more.made;
  bool news = false;
  for (Evidence& one : known) {
    if (one.kind != more.kind) continue;
    if (one.by == more.by && one.spec == more.spec) same = &one;
    if (one.made.calls > 0 && (one.date > more.date || made.calls == 0)) made = one.made;
    news = news || one.made != more.made;
  }
  for (Evidence& one : known)
    if (news && one.kind == more.kind) one.made = made;
  if (more.calls == 0) return;  // none was measured
  if (!same) {
    known.push_back(more);
    known.back().made = made;
    return;
  }
  Evidence& one = *same;
  const auto before = static_cast<double>(std::min(one.calls, most_calls)),
             after = static_cast<double>(std::min(more.calls, most_calls));
  const double calls = before + after, mean_s = (before * one.mean_s + after * more.mean_s) / calls;
  // Sums of squares around the mean of all: within each, as the deviation of its mean says, and between them.
  const auto squares = [&](const Evidence& part, double number) {
    const double apart = part.mean_s - mean_s;
    return part.spread_s * part.spread_s * static_cast<double>(part.calls) * (number - 1) + number * apart * apart;
  };
  const double sum = squares(one, before) + squares(more, after);
  one.spread_s = std::sqrt(sum / (calls - 1) / calls);
  one.mean_s = mean_s;
  one.calls = static_cast<std::int64_t>(calls);
  one.date = std::max(one.date, more.date);
}

void keep_within_bounds(std::vector<Evidence>& evidence) {
  struct Entry {
    std::string spec;  // as text, made once
    Evidence evidence;
  };
  struct Group {
    CallKind kind;
    std::int64_t last = 0;
    std::vector<Entry> entries{};
  };
  std::map<CallKind, Group> by_kind;
  for (Evidence& one : evidence) {
    Group& group = by_kind[one.kind];
    group.kind = one.kind;
    group.last = std::max(group.last, one.date);
    group.entries.push_back({to_text(one.spec), std::move(one)});
  }
  std::vector<Group> groups;
  for (auto& [kind, group] : by_kind) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::greater{}, &Group::last);
  std::size_t count = 0;
  const auto too_many = [&](Group& group) {
    std::ranges::sort(group.entries, {}, [](const Entry& one) {
      return std::tuple(one.evidence.spec.family != Family::native, one.evidence.mean_s, std::string_view(one.spec),
                        one.evidence.by);
    });
    if (group.entries.size() > most_specs_of_a_kind) group.entries.resize(most_specs_of_a_kind);
    return (count += group.entries.size()) > most_evidence;
  };
  groups.erase(std::ranges::find_if(groups, too_many), groups.end());
  std::ranges::sort(groups, {}, &Group::kind);
  evidence.clear();
  for (Group& group : groups) {
    std::ranges::sort(group.entries, {},
                      [](const Entry& one) { return std::tuple(std::string_view(one.spec), one.evidence.by); });
    for (Entry& one : group.entries) evidence.push_back(std::move(one.evidence));
  }
}

std::vector<Rule> rules_of(const std::vector<Evidence>& evidence) {
  std::vector<Rule> rules;
  for (const auto& [kind, all] : by_kind(evidence)) {
    const Evidence* native = nullptr;
    const Evidence* const best = fastest(all, native);
    if (!best) continue;
    const std::string others = best == native ? "" : ", the host MPI " + microseconds(native->mean_s);
    rules.push_back({kind.collective, Range{kind.ranks, kind.ranks}, Range{kind.nodes, kind.nodes},
                     bytes_of_class(kind.size_class), best->spec,
                     "memory of " + date_text(best->date).substr(0, 10) + ": " + microseconds(best->mean_s) + others +
                         "; " + std::to_string(best->calls) + " calls",
                     Range{kind.least_per_node, kind.least_per_node}});
  }
  return rules;
}

std::vector<Evidence> usable(std::vector<Evidence> evidence) {
  std::erase_if(evidence, [](const Evidence& one) { return one.kind.nodes == 1; });
  return evidence;
}

}  // namespace swapmeet
