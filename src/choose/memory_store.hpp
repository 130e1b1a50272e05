/// The files of the memory of measurements: one of the user for each machine, MPI and version of the library, and an
/// optional one of the site.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.hpp"
#include "evidence/file.hpp"
#include "options/options.hpp"
#include "schedule/owned_file.hpp"

namespace swapmeet {

/// Returns the user's folder of memory files; "" if there is none.
std::string memory_folder();
/// Returns the site's folders of memory files, the first to read first.
std::vector<std::string> site_memory_folders();

/// The measurements of earlier runs for communicators of one size.
struct Recalled {
  std::string text;   ///< evidence_line()s; with numbers of calls only if made by this program
  bool many = false;  ///< the program made enough calls of a kind to set up a communicator at once
};

/// The memory of a process: evidence of earlier runs, and evidence to add to it. Thread-safe. Files are read and
/// written only when needed.
class MemoryStore {
 public:
  /// Sets the options, the MPI (mpi_signature()) and the version of the `library`. Must be called first; without it
  /// nothing is remembered. `usual_places`: whether the standard files are used if SWAPMEET_MEMORY names none.
  void begin(const Options& options, const std::string& mpi, const std::string& library, bool usual_places = true);

  /// Returns the evidence of the user's and the site's files for communicators of `ranks` ranks, as a text of at most
  /// `most_recalled_bytes`. The files are read once and each text is made once, since communicators may be created
  /// often.
  std::shared_ptr<const Recalled> recall(Rank ranks);
  static constexpr std::size_t most_recalled_bytes = 32 * 1024;

  /// Adds evidence of this run. Its date is set here.
  void remember(const Evidence& evidence);
  /// Records that a communicator has ended after `calls` calls of a kind. The least number of any communicator is kept.
  void made(const CallKind& kind, std::int64_t calls);

  /// Adds the evidence of this run to the user's file, once.
  void write();

  /// Returns a warning for the user, once; "" if there is none.
  std::string take_problem();

  /// Returns the name of the user's file; "" if there is none.
  std::string file();

 private:
  const EvidenceKey& key();
  std::string own_file();
  void read(const std::string& file, Owner owner);
  std::uint64_t program();
  bool is_news(const CallKind& kind, std::int64_t calls) const;
  void warn(const std::string& file, const std::string& problem, const std::string& instead);

  std::mutex mutex_;
  std::string mpi_, library_, named_;
  bool reads_ = false, writes_ = false, usual_places_ = true, was_read_ = false, has_warned_ = false;
  EvidenceKey key_;
  std::optional<std::uint64_t> program_;
  std::vector<Evidence> recalled_, learnt_;
  std::map<CallKind, std::int64_t> made_;
  std::map<Rank, std::shared_ptr<const Recalled>> recalled_by_ranks_;
  std::string problem_;
};

/// Parses a text from recall(). Lines that are no evidence are skipped.
std::vector<Evidence> parse_recalled(std::string_view text);

/// Returns the evidence on which a choice may rest: that of calls on several nodes, with its uncertainty
/// (expectation.hpp). On one node a call takes less time than ranks need to leave the collective before it, so
/// that a few calls of several runs are no reliable measurement.
std::vector<Evidence> usable(std::vector<Evidence> evidence);

/// Adds evidence to a memory file, merged with its contents if they have the same key. A file with another key, or with
/// other contents, is left unchanged, or overwritten if `replace_other` is set. Returns "" or the problem.
std::string add_to_memory(const std::string& file, const EvidenceKey& key, const std::vector<Evidence>& evidence,
                          bool replace_other);

/// Replaces the evidence of a memory file by the result of `change`. Returns "" or the problem.
std::string change_memory(const std::string& file,
                          const std::function<std::vector<Evidence>(std::vector<Evidence>)>& change);

}  // namespace swapmeet
