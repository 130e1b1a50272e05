#include "options/tuning.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "options/line.hpp"
#include "schedule/kernel_file.hpp"
#include "schedule/names.hpp"
#include "schedule/owned_file.hpp"
#include "schedule/text_file.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr std::string_view first_line = "swapmeet-tuning 1";
constexpr std::string_view first_words = "swapmeet-tuning ";
constexpr std::size_t most_bytes_of_a_file = 1 << 20, most_bytes_of_a_line = 1000, most_rules = 2000;

/// Parses "4", "2..8" or "4096.." as a range of numbers from `range.least` on. Returns "" or the problem.
std::string read_range(std::string_view text, Range& range) {
  const std::string wrong =
      "must be a number, or a range such as 2..8 or 4096.., from " + std::to_string(range.least) + " on";
  const std::size_t dots = text.find("..");
  Range read{0, INT64_MAX};
  if (!read_number(text.substr(0, dots), 0, INT64_MAX, read.least)) return wrong;
  if (dots == text.npos) read.most = read.least;
  else if (dots + 2 < text.size() && !read_number(text.substr(dots + 2), 0, INT64_MAX, read.most)) return wrong;
  if (read.least < range.least || read.most < read.least) return wrong;
  range = read;
  return "";
}

/// Parses the part of a line after `rule:`, such as `alltoall ranks=2..4 nodes=1 bytes=0..512 use=shared-memory  #
/// why`.
Result<Rule> read_rule(Line& line) {
  Rule rule;
  const std::string_view name = line.word();
  const std::optional<Collective> collective = collective_named(name);
  if (!collective) return line.problem("a rule is for alltoall, alltoallv or alltoallw, not " + in_quotes(name, 40));
  rule.collective = *collective;
  bool used = false;
  std::vector<std::string_view> seen;
  for (std::string_view word = line.word(); !word.empty(); word = line.word()) {
    if (word.starts_with('#')) break;
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals), value = equals == word.npos ? "" : word.substr(equals + 1);
    Range* const range = key == "ranks"   ? &rule.ranks
                         : key == "nodes" ? &rule.nodes
                         : key == "bytes" ? &rule.bytes
                                          : nullptr;
    if (std::ranges::count(seen, key) > 0) return line.problem(std::string(key) + "= is there twice");
    seen.push_back(key);
    if (range) {
      const std::string wrong = read_range(value, *range);
      if (!wrong.empty()) return line.problem(in_quotes(word, 40) + ": " + wrong);
      if (range == &rule.bytes && of_unequal_blocks(rule.collective))
        return line.problem("ranks do not know the sizes of all unequal blocks, so no rule of " + std::string(name) +
                            " has bytes=; a spec can have direct=");
    } else if (key == "use") {
      const Result<Spec> spec = parse_spec(value);
      if (!spec) return line.problem("use=" + in_quotes(value, 100) + ": " + spec.problem().what);
      rule.spec = *spec;
      used = true;
    } else {
      return line.problem(in_quotes(word, 40) + ": no such word; there are ranks=, nodes=, bytes= and use=");
    }
  }
  if (!used) return line.problem("a rule without use=SPEC");
  return rule;
}

bool both_fit(const Rule& one, const Rule& other) {
  return one.collective == other.collective && one.ranks.meets(other.ranks) && one.nodes.meets(other.nodes) &&
         one.bytes.meets(other.bytes);
}

/// Whether two signatures name the same MPI: one may be less precise, as "openmpi 5.0" and "openmpi 5.0.11".
bool of_same(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return other.starts_with(one) && (one.size() == other.size() || other[one.size()] == '.');
}

/// Reads a tuning file. Returns the problem if it cannot be used here.
Result<Tuning> read_tuning(const std::string& file, const std::string& mpi) {
  const Result<std::string> text = text_of_file(file, most_bytes_of_a_file);
  if (!text) return text.problem();
  const Result<Tuning> parsed = parse_tuning(*text);
  if (!parsed) return parsed;
  Tuning tuning = *parsed;
  if (!of_same(tuning.mpi, mpi))
    return Problem{"it is for " + tuning.mpi + ", and this is " + (mpi.empty() ? "another MPI" : mpi)};
  if (tuning.machine != machine_signature())
    return Problem{"it is for the machine " + in_quotes(tuning.machine, 100) + ", and this is " +
                   in_quotes(machine_signature(), 100)};
  tuning.file = file;
  for (Rule& rule : tuning.rules) rule.origin = file + ", " + rule.origin;
  return tuning;
}

}  // namespace

Result<Tuning> parse_tuning(std::string_view text) {
  Tuning tuning;
  bool begun = false;
  bool ended = false;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view content = text.substr(begin, end - begin);
    if (content.ends_with('\r')) content.remove_suffix(1);
    Line line(content, number + 1);
    begin = end + 1;
    if (content.size() > most_bytes_of_a_line) return line.problem("more than 1000 characters in a line");
    if (std::ranges::any_of(content, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; }))
      return line.problem("not text");
    const std::string_view key = line.word();
    if (key.empty() || key.starts_with('#')) continue;
    if (ended) return line.problem(in_quotes(key, 40) + " after `end`, which is the last line");
    if (!begun) {
      if (content.starts_with(first_words) && content != first_line)
        return line.problem("of another version: " + in_quotes(content, 40) + ", where this library reads " +
                            in_quotes(first_line, 40));
      if (content != first_line) return line.problem("no tuning file: it must begin with " + in_quotes(first_line, 40));
      begun = true;
    } else if (key == "mpi:") {
      tuning.mpi = line.rest();
    } else if (key == "machine:") {
      tuning.machine = line.rest();
    } else if (key == "rule:") {
      const Result<Rule> read = read_rule(line);
      if (!read) return read.problem();
      Rule rule = *read;
      for (const Rule& earlier : tuning.rules)
        if (both_fit(earlier, rule))
          return Line(content, number + 1).problem("it contradicts the rule of " + earlier.origin);
      if (tuning.rules.size() == most_rules) return line.problem("more than 2000 rules");
      rule.origin = "line " + std::to_string(number + 1);
      tuning.rules.push_back(std::move(rule));
    } else if (key == "end") {
      if (tuning.mpi.empty() || tuning.machine.empty())
        return line.problem("no line `mpi: ...`, or none `machine: ...`");
      ended = true;
    } else {
      return line.problem(in_quotes(key, 40) + ": no such line; there are mpi:, machine:, rule: and end");
    }
  }
  if (!begun) return Problem{"no tuning file: it must begin with " + in_quotes(first_line, 40)};
  if (ended) return tuning;
  return Problem{"it is cut off: the last line must be `end`", number};
}

Tuning find_tuning(const std::string& named, const std::string& mpi, std::vector<std::string>& problems) {
  std::vector<std::string> files = standard_tuning_files(mpi.substr(0, mpi.find(' ')));
  if (!named.empty()) files.insert(files.begin(), named);
  for (const std::string& file : files) {
    const Result<Tuning> tuning = read_tuning(file, mpi);
    if (tuning) return *tuning;
    Problem problem = tuning.problem();
    if (problem.line < 0 && file != named) continue;
    if (problem.line < 0) problem.line = 0;
    problems.push_back("tuning file " + in_quotes(file, 200) + ": " + problem.text() + "; doing without it");
  }
  return {};
}

std::vector<std::string> site_folders() {
  std::vector<std::string> all;
  const char* const listed = secure_getenv("XDG_CONFIG_DIRS");
  std::string_view folders = listed && *listed ? listed : "/etc/xdg";
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    if (folders.starts_with('/')) all.emplace_back(folders.substr(0, end));
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return all;
}

std::vector<std::string> standard_tuning_files(const std::string& kind) {
  std::vector<std::string> files;
  const std::string name = "/swapmeet/" + kind + ".tuning", home = folder_of("HOME");
  std::string own = folder_of("XDG_CONFIG_HOME");
  if (own.empty() && !home.empty()) own = home + "/.config";
  if (!own.empty()) files.push_back(own + name);
  for (const std::string& folder : site_folders()) files.push_back(folder + name);
  return files;
}

std::string machine_signature() {
  std::string processor = "unknown processor";
  const std::string information = read_kernel_file("/proc/cpuinfo", 1);  // of the first processor
  if (const std::size_t begin = information.find("model name"); begin != information.npos) {
    const std::string line = information.substr(begin, information.find('\n', begin) - begin);
    const std::size_t text = line.find_first_not_of(" \t", line.find(':') + 1);
    if (text != line.npos) processor = line.substr(text);
  }
  return processor + ", " + std::to_string(sysconf(_SC_NPROCESSORS_CONF)) + " cores";
}

std::string mpi_signature(std::string_view library_version) {
  struct Known {
    std::string_view beginning, kind;
  };
  constexpr std::array<Known, 5> known{{{"Open MPI v", "openmpi"},
                                        {"MPICH Version:", "mpich"},
                                        {"Intel(R) MPI Library ", "intel"},
                                        {"MPICH ", "mpich"},
                                        {"SMPI Version ", "simgrid"}}};
  for (const auto& [beginning, kind] : known) {
    if (!library_version.starts_with(beginning)) continue;
    std::string_view version = library_version.substr(beginning.size());
    version.remove_prefix(std::min(version.find_first_not_of(" \t"), version.size()));
    version = version.substr(0, version.find_first_not_of("0123456789."));
    return std::string(kind) + ' ' + std::string(version.substr(0, version.find_last_not_of('.') + 1));
  }
  return "";
}

std::uint64_t Tuning::fingerprint() const {
  TextHash hash;
  for (const Rule& rule : rules) {
    for (const Range& range : {rule.ranks, rule.nodes, rule.bytes})
      hash.add(std::to_string(range.least) + ".." + std::to_string(range.most) + ' ');
    hash.add(std::string(name_of(rule.collective)) + ' ' + to_text(rule.spec) + '\n');
  }
  return hash.value();
}

}  // namespace swapmeet
