/// Evidence that outlives a run: its text, how evidence of several runs is put together, and what follows from it.
/// Files of it: memory_store.hpp.
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

/// What times hold for. They never count for another.
struct MemoryKey {
  std::string mpi;      ///< as mpi_signature()
  std::string machine;  ///< as cluster_signature()
  std::string library;  ///< version of this library

  bool operator==(const MemoryKey&) const = default;

  /// Of the file for this key and this version of the format, such as "openmpi-5.0.11-0123456789abcdef.memory".
  std::string file_name() const;
};

/// Machines whose times are the same: the processor, how many of them, and the name of the host with # for its numbers,
/// which the nodes of one cluster share. A container's random name is "container".
std::string cluster_signature();
/// Of the program of this process, by the first two words of its command line without folders ("python", "fft.py"); 0: they are
/// hidden. Programs share a memory, and do not make the same calls.
std::uint64_t program_number();
std::string host_class(std::string_view host);

/// Evidence of one key, as a text has it. Its first line is `swapmeet-memory 1`; then come `mpi: ...`, `machine: ...`
/// and `library: ...`, and a line `took: ...` for each spec and kind of call. Blank lines and those that begin with #
/// say nothing.
struct Remembered {
  MemoryKey key;
  std::vector<Evidence> evidence;
  int lines = 0;     ///< of evidence
  int unusable = 0;  ///< among them
  Problem first;     ///< of those
};

/// A line that cannot be used is counted and left out, also a last one that is cut off. A problem: no line can.
Result<Remembered> parse_memory(std::string_view text);
std::string memory_text(const MemoryKey& key, const std::vector<Evidence>& evidence);

/// `took: alltoall ranks=64 nodes=8 per-node=8 bytes=64 use=SPEC calls=9 mean_us=12.3 spread_us=0.4 by=trial
/// date=2026-01-02T03:04:05Z made=200 program=0123456789abcdef`, the last two words only if that is known.
std::string evidence_line(const Evidence& evidence);
Result<Evidence> parse_evidence(std::string_view line, int number = 0);

/// Adds evidence to what is `known`: that of the same kind, spec and measurer becomes one, weighted by calls, of which
/// both count as `most_calls` at most: so what is new is believed where a machine has changed. How many calls were `made`
/// is of the last run, for all evidence of the kind; evidence of no calls adds only that.
void merge(std::vector<Evidence>& known, const Evidence& more);
inline constexpr std::int64_t most_calls = 100;

/// Drops what is least useful beyond the bounds: of a kind, the slowest specs, but for the host MPI; and the kinds that
/// were not measured for the longest time.
void keep_within_bounds(std::vector<Evidence>& evidence);
inline constexpr std::size_t most_specs_of_a_kind = 16, most_evidence = 1000, most_bytes_of_memory = 512 * 1024;

/// Rules that evidence is enough for: of each kind, the spec that is faster than the host MPI beyond doubt, of several
/// the one of which most is sure; or the host MPI, where it is faster than all others so. Intervals are of two standard
/// deviations of the mean, and of eight calls or more.
std::vector<Rule> rules_of(const std::vector<Evidence>& evidence);

/// What a choice may rest on: evidence of calls on several nodes, as far as it is sure (expectation.hpp). On one node, a
/// call takes less time than ranks take to leave the collective before it, so that few calls of several runs say nothing,
/// or what is wrong.
std::vector<Evidence> usable(std::vector<Evidence> evidence);

}  // namespace swapmeet
