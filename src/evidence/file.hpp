/// Files of evidence: tuning files, with the rules of the user, and memory files, with the measurements of earlier runs
/// (docs/tuning.md). Both have a first line with the version of the format, lines `mpi: ...` and `machine: ...`, and
/// one line for each record (line.hpp). Blank lines and lines that begin with # are ignored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.hpp"
#include "schedule/result.hpp"

namespace swapmeet {

/// The conditions under which evidence holds. Times with different keys are never mixed.
struct EvidenceKey {
  std::string mpi;      ///< mpi_signature(), such as "openmpi 5.0.11"
  std::string machine;  ///< of a tuning file machine_signature(), of a memory file cluster_signature()
  std::string library;  ///< version of this library; of memory files only

  bool operator==(const EvidenceKey&) const = default;

  /// Returns the name of the memory file for this key and this version of the format, such as
  /// "openmpi-5.0.11-0123456789abcdef.memory".
  std::string file_name() const;
};

struct EvidenceFile {
  std::string name;  ///< "": no file was read
  EvidenceKey key;
  std::vector<Evidence> evidence;  ///< of a tuning file: no two rules fit one call
  int lines = 0;                   ///< number of lines of evidence
  int unusable = 0;                ///< number of these lines that cannot be used
  Problem first;                   ///< the problem of the first such line

  /// Returns a hash of the evidence.
  std::uint64_t fingerprint() const;
};

/// Parses a tuning file. Its last line is `end`. Nothing of a file with a wrong line is used: the problem is returned.
Result<EvidenceFile> parse_tuning(std::string_view text);

/// Parses a memory file, which also has a line `library: ...`. A line of evidence that cannot be used is counted and
/// skipped, as is a truncated last line. Returns a problem if the first line or a line of the key is wrong or missing.
Result<EvidenceFile> parse_memory(std::string_view text);
inline constexpr std::size_t most_bytes_of_memory = 512 * 1024;

/// Returns the text of a memory file.
std::string memory_text(const EvidenceKey& key, const std::vector<Evidence>& evidence);

/// Returns the contents of the tuning file for this MPI (mpi_signature()) and machine. It is `named`
/// (SWAPMEET_TUNING_FILE) unless that is "", then the first of standard_tuning_files(). A file that cannot be used adds
/// a sentence to `problems`, and the next one is tried. Reads files.
EvidenceFile find_tuning(const std::string& named, const std::string& mpi, std::vector<std::string>& problems);

/// Returns the standard places of the tuning file for a kind of MPI (mpich, openmpi, intel), the first one first.
std::vector<std::string> standard_tuning_files(const std::string& kind);

/// Returns the configuration folders of the site: $XDG_CONFIG_DIRS.
std::vector<std::string> site_folders();

}  // namespace swapmeet
