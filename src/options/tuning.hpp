/// Tuning files: rules of the automatic choice that were measured on a machine (docs/tuning.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/rule.hpp"
#include "schedule/result.hpp"

namespace swapmeet {

/// A file that was read, or that nobody has.
struct Tuning {
  std::string file;         ///< "": there is none
  std::string mpi;          ///< of which it holds, such as "openmpi 5.0.11"
  std::string machine;      ///< such as machine_signature() returns
  std::vector<Rule> rules;  ///< no two fit one call

  /// A number that is the same for files with the same rules.
  std::uint64_t fingerprint() const;
};

/// What is written on one page: a first line `swapmeet-tuning 1`, then lines `mpi: ...`, `machine: ...` and `rule:
/// ...`. Blank lines and those that begin with # say nothing.
Result<Tuning> parse_tuning(std::string_view text);

/// The file for this MPI and machine: `named` (SWAPMEET_TUNING_FILE) if it is not "", else the first of
/// standard_tuning_files(). One that cannot be used is a sentence in `problems`, and the next is tried. `mpi`: as in
/// Tuning. Reads files.
Tuning find_tuning(const std::string& named, const std::string& mpi, std::vector<std::string>& problems);

/// Where a file for an MPI of that kind (mpich, openmpi, intel) is looked for, the first one first.
std::vector<std::string> standard_tuning_files(const std::string& kind);

/// Folders of what a site gives all its users: $XDG_CONFIG_DIRS.
std::vector<std::string> site_folders();

/// The processor and how many of them this machine has: files of other machines do not hold.
std::string machine_signature();

/// "openmpi 5.0.11", of what MPI_Get_library_version() says; "" if it is of no MPI that we know.
std::string mpi_signature(std::string_view library_version);

}  // namespace swapmeet
