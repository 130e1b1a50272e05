/// Evidence: one record of knowledge about a spec for some calls. Either the time of such calls was measured, by this
/// run, an earlier run or a command, or a rule of the user names the spec to use. A rule has no time and always wins.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// A range of whole numbers from `least` to `most`, both included.
struct Range {
  std::int64_t least = 0, most = INT64_MAX;

  bool has(std::int64_t value) const { return least <= value && value <= most; }
  bool meets(const Range& other) const { return least <= other.most && other.least <= most; }

  bool operator==(const Range&) const = default;
};

/// A kind of call: all calls with these properties get the same choice.
struct CallKind {
  Collective collective = Collective::alltoall;
  Rank ranks = 2;
  std::int32_t nodes = 1;
  Rank least_per_node = 2, most_per_node = 2;  ///< ranks of the nodes with the fewest and the most
  /// The block_class() of a block, or of the mean block if blocks are unequal. unknown_class: the ranks do not know one
  /// another's sizes.
  std::int32_t size_class = 0;
  /// True if the communicator is on one node and all send buffers lie in memory that node peers read without the
  /// kernel.
  bool direct = false;

  double mean_per_node() const { return static_cast<double>(ranks) / nodes; }

  auto operator<=>(const CallKind&) const = default;
};

inline constexpr std::int32_t unknown_class = -1;

/// Returns the size class k of a block: 2^k is the power of two nearest to `bytes` by ratio. Empty blocks are of class
/// 0.
constexpr std::int32_t block_class(std::int64_t bytes) {
  if (bytes < 2) return 0;
  const auto power = static_cast<std::int32_t>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1;
  const double excess = static_cast<double>(bytes) / static_cast<double>(std::int64_t{1} << power);
  return power + (excess * excess > 2 ? 1 : 0);
}

/// Returns the block sizes of a class, in bytes.
Range bytes_of_class(std::int32_t size_class);

/// The origin of evidence. Later origins outrank earlier ones.
enum class Measurer : std::uint8_t {
  model,        ///< no measurement: a price by a description of the machine
  calibration,  ///< `swapmeet calibrate`
  trial,        ///< a running application
  tune,         ///< `swapmeet tune`
  user,         ///< no measurement: a rule of a tuning file
};
inline constexpr std::array<std::string_view, 5> measurer_names{"model", "calibration", "trial", "tune", "user"};

/// The number of calls of a kind that one run of a program has made.
struct CallsMade {
  std::int64_t calls = 0;     ///< on each communicator, at least; 0: unknown
  std::uint64_t program = 0;  ///< program_number() (signatures.hpp)

  bool operator==(const CallsMade&) const = default;
};

struct Evidence {
  Evidence() = default;
  /// The measured time of `calls` calls of a kind.
  Evidence(const CallKind& kind, Spec spec, std::int64_t calls, double mean_s, double spread_s,
           Measurer by = Measurer::trial, std::int64_t date = 0, CallsMade made = {});

  // The calls that the evidence is about. A rule has ranges; measured calls are of one kind().
  Collective collective = Collective::alltoall;
  Range ranks{2}, nodes{1};
  Range per_node{1};    ///< from the ranks of the node with the fewest to those of the node with the most
  Range bytes;          ///< sizes of blocks; unlimited if the ranks do not know one another's sizes
  bool direct = false;  ///< CallKind::direct

  Spec spec;               ///< native: the host MPI
  std::int64_t calls = 0;  ///< number of measured calls; 0 for a rule
  /// The mean time of one call on the slowest rank, and the standard deviation of this mean.
  double mean_s = 0, spread_s = 0;
  Measurer by = Measurer::trial;
  std::int64_t date = 0;  ///< of the measurement, in seconds since 1970; 0: this run
  CallsMade made{};       ///< by the last run with a known number of calls
  std::string origin;     ///< place of a rule in its file, for messages

  /// The kind of measured calls, and its size class.
  CallKind kind() const;
  std::int32_t size_class() const { return bytes == Range{} ? unknown_class : block_class(bytes.least); }

  /// Whether both are about the same calls.
  bool of_same_calls(const Evidence& other) const {
    return collective == other.collective && ranks == other.ranks && nodes == other.nodes &&
           per_node == other.per_node && bytes == other.bytes && direct == other.direct;
  }

  bool operator==(const Evidence&) const = default;
};

/// Whether measured evidence is possible: a kind of call that can exist, and a time from a nanosecond to a day. Stored
/// evidence is read from files and may hold anything. A rule is no measurement.
bool plausible(const Evidence& evidence);
inline constexpr std::int32_t most_size_class = 50;
inline constexpr double least_seconds = 1e-9, most_seconds = 86400;

}  // namespace swapmeet
