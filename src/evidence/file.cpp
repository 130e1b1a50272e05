#include "evidence/file.hpp"

#include <algorithm>
#include <cstdlib>

#include "evidence/line.hpp"
#include "evidence/signatures.hpp"
#include "schedule/names.hpp"
#include "schedule/owned_file.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t most_bytes_of_tuning = 1 << 20, most_bytes_of_a_line = 1000, most_rules = 2000;

/// The differences between the two kinds of files.
struct Form {
  std::string_view first_words, first_line, noun;
  bool by_a_person;  ///< the file ends with `end`, has no `library: ...`, and a wrong line is not skipped
  std::string_view without_key;
};
constexpr Form tuning_form{"swapmeet-tuning ", "swapmeet-tuning 1", "tuning file", true,
                           "no line `mpi: ...`, or none `machine: ...`"};
constexpr Form memory_form{"swapmeet-memory ", "swapmeet-memory 1", "memory of Swapmeet", false,
                           "a line mpi:, machine: or library: is missing"};

bool both_fit(const Evidence& one, const Evidence& other) {
  return one.collective == other.collective && one.ranks.meets(other.ranks) && one.nodes.meets(other.nodes) &&
         one.bytes.meets(other.bytes);
}

/// Returns "" or the reason why a line cannot be read at all.
std::string_view illegible(std::string_view line) {
  if (line.size() > most_bytes_of_a_line) return "more than 1000 characters in a line";
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; };
  return std::ranges::any_of(line, control) ? "not text" : "";
}

/// Returns "" or the reason why the first line that is not blank does not begin such a file.
std::string wrong_beginning(std::string_view line, const Form& form) {
  line = line.substr(0, line.find_last_not_of(" \r") + 1);
  if (line == form.first_line) return "";
  if (line.starts_with(form.first_words))
    return "of another version: " + in_quotes(line, 40) + ", where this library reads " +
           in_quotes(form.first_line, 40);
  return "no " + std::string(form.noun) + ": it must begin with " + in_quotes(form.first_line, 40);
}

/// Returns the text after the first word of a line, without blanks around it.
std::string rest_of(const Lines& lines) {
  constexpr std::string_view blanks = " \t\r";
  if (lines.words().size() < 2) return "";
  const std::string_view line = lines.line();
  const auto begin = static_cast<std::size_t>(lines.words()[1].data() - line.data());
  return std::string(line.substr(begin, line.find_last_not_of(blanks) + 1 - begin));
}

/// Parses a rule of a tuning file. It must not meet an `earlier` one.
Result<Evidence> parse_rule(const Lines& lines, const std::vector<Evidence>& earlier) {
  if (lines.words().front() != rule_word)
    return lines.at(0,
                    in_quotes(lines.words().front(), 40) + ": no such line; there are mpi:, machine:, rule: and end");
  Result<Evidence> rule = parse_evidence(lines);
  if (!rule) return rule;
  const auto other = std::ranges::find_if(earlier, [&](const Evidence& one) { return both_fit(one, *rule); });
  if (other != earlier.end()) return lines.here("it contradicts the rule of " + other->origin);
  if (earlier.size() == most_rules) return lines.here("more than 2000 rules");
  (*rule).origin = "line " + std::to_string(lines.number());
  return rule;
}

/// Parses a line of a memory file. `wrong`: "" or the reason why it cannot be read at all.
Result<Evidence> parse_measurement(const Lines& lines, std::string_view wrong) {
  if (wrong.empty() && lines.words().front() != measurement_word) wrong = "must begin with took:";
  return wrong.empty() ? parse_evidence(lines) : lines.here(std::string(wrong));
}

Result<EvidenceFile> parse(std::string_view text, const Form& form) {
  EvidenceFile file;
  EvidenceKey& key = file.key;
  bool begun = false, ended = false;
  Lines lines(text);
  while (lines.next(false)) {
    const std::string_view word = lines.words().front(), line = lines.line();
    const bool comment = word.starts_with('#');
    if (!begun && !comment) {
      begun = true;
      if (std::string wrong = wrong_beginning(line, form); !wrong.empty()) return lines.here(std::move(wrong));
      continue;
    }
    const bool cut_off = line.data() + line.size() == text.data() + text.size();
    const std::string_view wrong = cut_off && !form.by_a_person ? "it is cut off" : illegible(line);
    if (form.by_a_person && !wrong.empty()) return lines.here(std::string(wrong));
    if (comment) continue;
    if (ended) return lines.at(0, in_quotes(word, 40) + " after `end`, which is the last line");
    std::string* const named = word == "mpi:"                            ? &key.mpi
                               : word == "machine:"                      ? &key.machine
                               : word == "library:" && !form.by_a_person ? &key.library
                                                                         : nullptr;
    if (named) {
      *named = rest_of(lines).substr(0, most_bytes_of_a_line);
    } else if (form.by_a_person && word == "end") {
      ended = true;
    } else {
      ++file.lines;
      Result<Evidence> one = form.by_a_person ? parse_rule(lines, file.evidence) : parse_measurement(lines, wrong);
      if (one) file.evidence.push_back(std::move(*one));
      else if (form.by_a_person) return one.problem();
      else if (++file.unusable == 1) file.first = one.problem();
    }
  }
  if (!begun) return Problem{wrong_beginning("", form)};
  if (form.by_a_person && !ended) return Problem{"it is cut off: the last line must be `end`", lines.number()};
  if (key.mpi.empty() || key.machine.empty() || (key.library.empty() && !form.by_a_person))
    return Problem{std::string(form.without_key)};
  return file;
}

/// Whether two signatures name the same MPI: one may be less precise, as "openmpi 5.0" and "openmpi 5.0.11".
bool of_same(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  return other.starts_with(one) && (one.size() == other.size() || other[one.size()] == '.');
}

/// Reads a tuning file. Returns the problem if it cannot be used here.
Result<EvidenceFile> read_tuning(const std::string& name, const std::string& mpi) {
  const Result<std::string> text = text_of_file(name, most_bytes_of_tuning);
  if (!text) return text.problem();
  Result<EvidenceFile> parsed = parse_tuning(*text);
  if (!parsed) return parsed;
  EvidenceFile& file = *parsed;
  const EvidenceKey& key = file.key;
  if (!of_same(key.mpi, mpi))
    return Problem{"it is for " + key.mpi + ", and this is " + (mpi.empty() ? "another MPI" : mpi)};
  if (const std::string here = machine_signature(); key.machine != here)
    return Problem{"it is for the machine " + in_quotes(key.machine, 100) + ", and this is " + in_quotes(here, 100)};
  file.name = name;
  for (Evidence& rule : file.evidence) rule.origin = name + ", " + rule.origin;
  return parsed;
}

}  // namespace

Result<EvidenceFile> parse_tuning(std::string_view text) { return parse(text, tuning_form); }
Result<EvidenceFile> parse_memory(std::string_view text) { return parse(text, memory_form); }

std::string memory_text(const EvidenceKey& key, const std::vector<Evidence>& evidence) {
  std::string text = std::string(memory_form.first_line) +
                     "\n# What took how long in programs that ran with Swapmeet (docs/tuning.md): `swapmeet tuning "
                     "show`. It may be deleted.\nmpi: " +
                     key.mpi + "\nmachine: " + key.machine + "\nlibrary: " + key.library + '\n';
  for (const Evidence& one : evidence) text += evidence_line(one) + '\n';
  return text;
}

std::string EvidenceKey::file_name() const {
  TextHash hash;
  for (const std::string_view part :
       {memory_form.first_line, std::string_view(mpi), std::string_view(machine), std::string_view(library)})
    hash.add(std::string(part) + '\n');
  std::string name = mpi + '-' + hexadecimal(hash.value()) + ".memory";
  std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '/'; }, '-');
  return name;
}

std::uint64_t EvidenceFile::fingerprint() const {
  TextHash hash;
  for (const Evidence& one : evidence) hash.add(evidence_line(one) + '\n');
  return hash.value();
}

EvidenceFile find_tuning(const std::string& named, const std::string& mpi, std::vector<std::string>& problems) {
  std::vector<std::string> files = standard_tuning_files(mpi.substr(0, mpi.find(' ')));
  if (!named.empty()) files.insert(files.begin(), named);
  for (const std::string& name : files) {
    Result<EvidenceFile> file = read_tuning(name, mpi);
    if (file) return std::move(*file);
    Problem problem = file.problem();
    if (problem.line < 0 && name != named) continue;
    problem.line = std::max(problem.line, 0);
    problems.push_back("tuning file " + in_quotes(name, 200) + ": " + problem.text() + "; doing without it");
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

}  // namespace swapmeet
