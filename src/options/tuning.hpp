/// Tuning files: rules of the automatic choice that were measured on one machine (docs/tuning.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/rule.hpp"
#include "schedule/result.hpp"

namespace swapmeet {

/// The contents of a tuning file, or the absence of one.
struct Tuning {
  std::string file;         ///< "": no file
  std::string mpi;          ///< MPI for which the rules hold, such as "openmpi 5.0.11"
  std::string machine;      ///< machine_signature() of the machine for which they hold
  std::vector<Rule> rules;  ///< no two rules fit one call

  /// Returns a hash of the rules.
  std::uint64_t fingerprint() const;
};

/// Parses a tuning file: a first line `swapmeet-tuning 1`, then lines `mpi: ...`, `machine: ...` and `rule: ...`, and a
/// last line `end`. Blank lines and lines that begin with # are ignored.
Result<Tuning> parse_tuning(std::string_view text);

/// Returns the contents of the tuning file for this MPI and machine. It is `named` (SWAPMEET_TUNING_FILE) unless that
/// is "", then the first of standard_tuning_files(). A file that cannot be used adds a sentence to `problems`, and the
/// next one is tried. `mpi`: as in Tuning. Reads files.
Tuning find_tuning(const std::string& named, const std::string& mpi, std::vector<std::string>& problems);

/// Returns the standard places of the tuning file for a kind of MPI (mpich, openmpi, intel), the first one first.
std::vector<std::string> standard_tuning_files(const std::string& kind);

/// Returns the configuration folders of the site: $XDG_CONFIG_DIRS.
std::vector<std::string> site_folders();

/// Returns the name of the processor and the number of processors. Tuning files of other machines are not used.
std::string machine_signature();

/// Returns a name such as "openmpi 5.0.11" for the text of MPI_Get_library_version(); "" for an unknown MPI.
std::string mpi_signature(std::string_view library_version);

}  // namespace swapmeet
