/// Where evidence lies between runs: a file of the user's for each machine, MPI and version of the library, and one that
/// a site may ship.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "choose/memory.hpp"
#include "schedule/owned_file.hpp"
#include "options/options.hpp"

namespace swapmeet {

/// The user's folder for files of memory; "": there is none.
std::string memory_folder();
/// Those of a site, the first one first.
std::vector<std::string> site_memory_folders();

/// What earlier runs have measured of calls on so many ranks.
struct Recalled {
  std::string text;   ///< of evidence_line()s; how many calls were made only by this program
  bool many = false;  ///< it made so many of a kind that set-up may wait for none
};

/// What a process remembers of earlier runs, and what it adds. Thread-safe; reads and writes nothing before it must.
class MemoryStore {
 public:
  /// For a process with such options and such an MPI (as mpi_signature()); of a `library` of that version. Called before
  /// all else; without it nothing is remembered. `usual_places`: unless SWAPMEET_MEMORY names a file, the usual are used.
  void begin(const Options& options, const std::string& mpi, const std::string& library, bool usual_places = true);

  /// By the user's file and by a site's, a text of at most `most_recalled_bytes`. Reads them once, and makes each text once:
  /// communicators may be made all the time.
  Recalled recall(Rank ranks);
  static constexpr std::size_t most_recalled_bytes = 32 * 1024;

  /// Adds evidence of this run; of no date.
  void remember(const Evidence& evidence);
  /// A communicator that ends has made so many calls of a kind. What is kept is the least of any.
  void made(const CallKind& kind, std::int64_t calls);

  /// Adds what was remembered to the user's file, once.
  void write();

  /// What to warn the user of, once; "": nothing.
  std::string take_problem();

  /// The user's file; "": none.
  std::string file();

 private:
  const MemoryKey& key();
  std::string own_file();
  void read(const std::string& file, Owner owner);
  std::uint64_t program();
  bool is_news(const CallKind& kind, std::int64_t calls) const;
  void warn(const std::string& file, const std::string& problem, const std::string& instead);

  std::mutex mutex_;
  std::string mpi_, library_, named_;
  bool reads_ = false, writes_ = false, usual_places_ = true, was_read_ = false, has_warned_ = false;
  MemoryKey key_;
  std::optional<std::uint64_t> program_;
  std::vector<Evidence> recalled_, learnt_;
  std::map<CallKind, std::int64_t> made_;
  std::map<Rank, Recalled> recalled_by_ranks_;
  std::string problem_;
};

/// The evidence of a text from recall(); what is no evidence is left out.
std::vector<Evidence> parse_recalled(std::string_view text);

/// Adds evidence to a file of memory, whatever is there of the same key; one of another key, or that is no memory, is
/// left as it is, unless `replace_other` says otherwise. "" or the problem.
std::string add_to_memory(const std::string& file, const MemoryKey& key, const std::vector<Evidence>& evidence,
                          bool replace_other);

/// Replaces the evidence of a file of memory by what `change` makes of it. "" or the problem.
std::string change_memory(const std::string& file,
                          const std::function<std::vector<Evidence>(std::vector<Evidence>)>& change);

}  // namespace swapmeet
