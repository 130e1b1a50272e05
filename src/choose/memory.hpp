/// The memory of measurements: the text form of evidence, the merging of evidence of several runs, and the rules that
/// follow from it. The files are in memory_store.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "choose/evidence.hpp"
#include "options/rule.hpp"
#include "schedule/result.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// The conditions under which times were measured. Times with different keys are never mixed.
struct MemoryKey {
  std::string mpi;      ///< mpi_signature()
  std::string machine;  ///< cluster_signature()
  std::string library;  ///< version of this library

  bool operator==(const MemoryKey&) const = default;

  /// Returns the name of the file for this key and this version of the format, such as
  /// "openmpi-5.0.11-0123456789abcdef.memory".
  std::string file_name() const;
};

/// Returns a text that is equal on machines whose times are comparable: the processor, the number of processors, and
/// the host_class() of this host, which is the same on all nodes of a cluster.
std::string cluster_signature();
/// Returns a number for the program of this process, by the first two words of its command line without folders
/// ("python", "fft.py"); 0 if the command line is hidden. Programs share one memory but make different numbers of
/// calls.
std::uint64_t program_number();
/// Returns the name of the host with # for each of its numbers; "container" for the random name of a container.
std::string host_class(std::string_view host);

/// The contents of a memory file. Its first line is `swapmeet-memory 1`. Then come `mpi: ...`, `machine: ...` and
/// `library: ...`, and one line `took: ...` for each spec and kind of call. Blank lines and lines that begin with # are
/// ignored.
struct Remembered {
  MemoryKey key;
  std::vector<Evidence> evidence;
  int lines = 0;     ///< number of evidence lines
  int unusable = 0;  ///< number of evidence lines that cannot be used
  Problem first;     ///< the problem of the first unusable line
};

/// Parses a memory file. An evidence line that cannot be used is counted and skipped, as is a truncated last line.
/// Returns a problem if the first line or a line of the key is wrong or missing.
Result<Remembered> parse_memory(std::string_view text);
std::string memory_text(const MemoryKey& key, const std::vector<Evidence>& evidence);

/// Returns evidence as a line `took: alltoall ranks=64 nodes=8 per-node=8 bytes=64 use=SPEC calls=9 mean_us=12.3
/// spread_us=0.4 by=trial date=2026-01-02T03:04:05Z made=200 program=0123456789abcdef`. The last two words are missing
/// if the number of calls is unknown.
std::string evidence_line(const Evidence& evidence);
Result<Evidence> parse_evidence(std::string_view line, int number = 0);

/// Adds evidence to `known`. Evidence of the same kind, spec and measurer is combined, weighted by the number of calls,
/// each counted as at most `most_calls`: so new times prevail soon after a machine has changed. `made` is set for all
/// evidence of the kind to that of the last run; evidence of no calls adds only `made`.
void merge(std::vector<Evidence>& known, const Evidence& more);
inline constexpr std::int64_t most_calls = 100;

/// Drops the least useful evidence beyond the bounds: the slowest specs of a kind (never the host MPI), and the kinds
/// that were measured the longest time ago.
void keep_within_bounds(std::vector<Evidence>& evidence);
inline constexpr std::size_t most_specs_of_a_kind = 16, most_evidence = 1000, most_bytes_of_memory = 512 * 1024;

/// Returns one rule for each kind of call with sufficient evidence. The rule names a spec that is certainly faster than
/// the host MPI (of several, the one with the least upper bound), or the host MPI if it is certainly faster than all
/// measured specs. "Certainly" means that the intervals of two standard deviations of the mean do not overlap, with
/// eight calls or more of each.
std::vector<Rule> rules_of(const std::vector<Evidence>& evidence);

/// Returns the evidence on which a choice may rest: that of calls on several nodes, with its uncertainty
/// (expectation.hpp). On one node a call takes less time than ranks need to leave the collective before it, so that a
/// few calls of several runs are no reliable measurement.
std::vector<Evidence> usable(std::vector<Evidence> evidence);

}  // namespace swapmeet
