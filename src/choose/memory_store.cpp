#include "choose/memory_store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <utility>

#include "choose/setup_policy.hpp"
#include "evidence/line.hpp"
#include "evidence/merge.hpp"
#include "evidence/signatures.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

constexpr std::string_view suffix = ".memory";
constexpr std::size_t most_files = 64;

/// Deletes the files that were not written for the longest time, beyond `most_files`.
void keep_few_files(const std::string& folder) {
  DIR* const listing = opendir(folder.c_str());
  if (!listing) return;
  std::vector<std::pair<std::time_t, std::string>> files;
  while (const dirent* const entry = readdir(listing)) {
    struct stat status{};
    if (std::string_view(entry->d_name).ends_with(suffix) &&
        fstatat(dirfd(listing), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
      files.emplace_back(status.st_mtime, entry->d_name);
  }
  std::ranges::sort(files, std::greater{});
  for (std::size_t i = most_files; i < files.size(); ++i) unlinkat(dirfd(listing), files[i].second.c_str(), 0);
  closedir(listing);
}

/// Returns evidence as a text of at most `most_bytes` bytes. A kind is left out as a whole if it does not fit.
std::string text_of(const std::vector<Evidence>& evidence, std::size_t most_bytes) {
  std::string text;
  for (std::size_t i = 0, end = 0; i < evidence.size(); i = end) {
    std::string kind;
    for (end = i; end < evidence.size() && evidence[end].of_same_calls(evidence[i]); ++end)
      kind += evidence_line(evidence[end]) + '\n';
    if (text.size() + kind.size() <= most_bytes) text += kind;
  }
  return text;
}

}  // namespace

std::string memory_folder() {
  const std::string state = folder_of("XDG_STATE_HOME"), home = folder_of("HOME");
  if (!state.empty()) return state + "/swapmeet";
  return home.empty() ? "" : home + "/.local/state/swapmeet";
}

std::vector<std::string> site_memory_folders() {
  std::vector<std::string> folders = site_folders();
  for (std::string& folder : folders) folder += "/swapmeet";
  return folders;
}

void MemoryStore::begin(const Options& options, const std::string& mpi, const std::string& library, bool usual_places) {
  const std::lock_guard lock(mutex_);
  const bool only_reads = options.memory == "read";
  named_ = only_reads || options.memory == "off" ? "" : options.memory;
  // Without online tuning a program sends the same messages in each run, unless memory is requested.
  reads_ = !has_elevated_rights() && !mpi.empty() && options.memory != "off" &&
           (!options.memory.empty() || options.trials_share > 0);
  writes_ = reads_ && !only_reads;
  usual_places_ = usual_places;
  mpi_ = mpi;
  library_ = library;
}

const EvidenceKey& MemoryStore::key() {
  if (key_.mpi.empty()) key_ = {mpi_, cluster_signature(), library_};
  return key_;
}

std::string MemoryStore::own_file() {
  if (!reads_ || !named_.empty()) return named_;
  const std::string folder = usual_places_ ? memory_folder() : "";
  return folder.empty() ? "" : folder + '/' + key().file_name();
}

std::string MemoryStore::file() {
  const std::lock_guard lock(mutex_);
  return reads_ ? own_file() : "";
}

void MemoryStore::warn(const std::string& file, const std::string& problem, const std::string& instead) {
  if (std::exchange(has_warned_, true)) return;
  problem_ = "memory " + in_quotes(file, 200) + ": " + problem + "; " + instead;
}

std::string MemoryStore::take_problem() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problem_, {});
}

void MemoryStore::read(const std::string& file, Owner owner) {
  const Result<std::string> text = read_owned(file, most_bytes_of_memory, owner);
  if (!text) {
    if (text.problem().line >= 0) warn(file, text.problem().text(), "doing without it");
    return;
  }
  if (text->empty()) return;
  const Result<EvidenceFile> read = parse_memory(*text);
  if (!read) return warn(file, read.problem().text(), "doing without it");
  if (!(read->key == key())) {
    const EvidenceKey& other = read->key;
    return warn(file,
                "it is for " + other.mpi + " on " + in_quotes(other.machine, 100) + " with version " + other.library +
                    ", and this is " + key().mpi + " on " + in_quotes(key().machine, 100) + " with " + key().library,
                "doing without it");
  }
  if (read->unusable > 0)
    warn(file,
         std::to_string(read->unusable) + " of " + std::to_string(read->lines) +
             " lines cannot be used, the first: " + read->first.text(),
         "doing without " + std::string(read->unusable == 1 ? "it" : "them"));
  recalled_.insert(recalled_.end(), read->evidence.begin(), read->evidence.end());
}

std::shared_ptr<const Recalled> MemoryStore::recall(Rank ranks) {
  const std::lock_guard lock(mutex_);
  static const auto nothing = std::make_shared<const Recalled>();
  if (!reads_) return nothing;
  if (!std::exchange(was_read_, true)) {
    const auto is_there = [](const std::string& folder) { return access(folder.c_str(), X_OK) == 0; };
    if (!named_.empty()) read(named_, Owner::user);
    else if (usual_places_) {  // finding the machine's signature takes longer than finding that there is no folder
      if (const std::string folder = memory_folder(); !folder.empty() && is_there(folder))
        read(own_file(), Owner::user);
      for (const std::string& folder : site_memory_folders())
        if (is_there(folder)) read(folder + '/' + key().file_name(), Owner::anybody);
    }
  }
  const auto known = recalled_by_ranks_.find(ranks);
  if (known != recalled_by_ranks_.end()) return known->second;
  std::vector<Evidence> of_ranks;
  for (const Evidence& one : recalled_)
    if (one.ranks.has(ranks)) merge(of_ranks, one);
  keep_within_bounds(of_ranks);
  bool many = false;
  for (Evidence& one : of_ranks) {
    if (one.made.calls > 0 && one.made.program != program()) one.made = {};
    many = many || (one.nodes.most > 1 && static_cast<double>(one.made.calls) >= SetupPolicy::first_calls);
  }
  auto made = std::make_shared<const Recalled>(text_of(of_ranks, most_recalled_bytes), many);
  return recalled_by_ranks_.emplace(ranks, std::move(made)).first->second;
}

void MemoryStore::remember(const Evidence& evidence) {
  const std::lock_guard lock(mutex_);
  if (!writes_ || !plausible(evidence)) return;
  Evidence dated = evidence;
  dated.date = std::time(nullptr);
  merge(learnt_, dated);
  if (learnt_.size() > most_evidence) keep_within_bounds(learnt_);
}

void MemoryStore::made(const CallKind& kind, std::int64_t calls) {
  const std::lock_guard lock(mutex_);
  if (!writes_ || calls < 1 || program() == 0) return;
  std::int64_t& least = made_.try_emplace(kind, calls).first->second;
  least = std::min(least, calls);
}

std::uint64_t MemoryStore::program() {
  if (!program_) program_ = program_number();
  return *program_;
}

/// Whether the number of calls of a measured kind is news: the last run was of another program, or made far more or
/// fewer calls.
bool MemoryStore::is_news(const CallKind& kind, std::int64_t calls) const {
  const auto magnitude = [](std::int64_t number) {
    return std::bit_width(static_cast<std::uint64_t>(std::min(number, most_calls)));
  };
  return std::ranges::any_of(recalled_, [&](const Evidence& one) {
    return one.kind() == kind && (one.made.program != program_ || magnitude(one.made.calls) != magnitude(calls));
  });
}

void MemoryStore::write() {
  const std::lock_guard lock(mutex_);
  std::vector<Evidence> learnt = std::exchange(learnt_, {});
  bool news = !learnt.empty();
  const std::int64_t now = std::time(nullptr);
  for (const auto& [kind, calls] : std::exchange(made_, {})) {
    news = news || is_news(kind, calls);
    learnt.push_back(Evidence(kind, {}, 0, 0, 0, Measurer::trial, now, {calls, program()}));
  }
  if (!writes_ || !news) return;
  const std::string file = own_file();
  if (file.empty()) return;
  const bool is_new = access(file.c_str(), F_OK) != 0;
  std::string problem = named_.empty() ? make_folders(memory_folder()) : "";
  if (problem.empty()) problem = add_to_memory(file, key(), learnt, named_.empty());
  if (!problem.empty() && !named_.empty()) warn(file, problem, "what this run has measured is not remembered");
  if (problem.empty() && named_.empty() && is_new) keep_few_files(memory_folder());
}

std::vector<Evidence> parse_recalled(std::string_view text) {
  std::vector<Evidence> all;
  Lines lines(text);
  while (lines.next(false))
    if (Result<Evidence> one = parse_evidence(lines)) all.push_back(std::move(*one));
  return all;
}

std::vector<Evidence> usable(std::vector<Evidence> evidence) {
  std::erase_if(evidence, [](const Evidence& one) { return one.nodes.most == 1; });
  return evidence;
}

std::string add_to_memory(const std::string& file, const EvidenceKey& key, const std::vector<Evidence>& evidence,
                          bool replace_other) {
  return replace_owned(file, most_bytes_of_memory, [&](const std::string& present) -> Result<std::string> {
    std::vector<Evidence> all;
    if (!present.empty()) {
      const Result<EvidenceFile> read = parse_memory(present);
      if (read && read->key == key) {
        for (const Evidence& one : read->evidence) merge(all, one);
      } else if (!replace_other) {
        return read ? Problem{"it is of another machine, MPI or version"} : read.problem();
      }
    }
    for (const Evidence& one : evidence) merge(all, one);
    keep_within_bounds(all);
    return memory_text(key, all);
  });
}

std::string change_memory(const std::string& file,
                          const std::function<std::vector<Evidence>(std::vector<Evidence>)>& change) {
  return replace_owned(file, most_bytes_of_memory, [&](const std::string& present) -> Result<std::string> {
    const Result<EvidenceFile> read = parse_memory(present);
    if (!read) return read.problem();
    return memory_text(read->key, change(read->evidence));
  });
}

}  // namespace swapmeet
