/// Evidence: the measured time of a spec for one kind of call, with the number of calls, the uncertainty and the
/// program that measured it.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <string_view>

#include "options/rule.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

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

/// The origin of a time. Later origins outrank earlier ones.
enum class Measurer : std::uint8_t {
  model,        ///< no measurement: a price by a description of the machine
  calibration,  ///< `swapmeet calibrate`
  trial,        ///< a running application
  tune,         ///< `swapmeet tune`
};
inline constexpr std::array<std::string_view, 4> measurer_names{"model", "calibration", "trial", "tune"};

/// The number of calls of a kind that one run of a program has made.
struct CallsMade {
  std::int64_t calls = 0;     ///< on each communicator, at least; 0: unknown
  std::uint64_t program = 0;  ///< program_number() (memory.hpp)

  bool operator==(const CallsMade&) const = default;
};

/// The measured time of one spec for calls of one kind, on the slowest rank.
struct Evidence {
  CallKind kind;
  Spec spec;  ///< native: the host MPI
  std::int64_t calls = 0;
  double mean_s = 0, spread_s = 0;  ///< of one call; spread: the standard deviation of the mean
  Measurer by = Measurer::trial;
  std::int64_t date = 0;  ///< of the measurement, in seconds since 1970; 0: this run
  CallsMade made{};       ///< by the last run with a known number of calls

  bool operator==(const Evidence&) const = default;
};

/// Whether evidence is possible: a kind of call that can exist, and a time from a nanosecond to a day. Stored evidence
/// is read from files and may hold anything.
bool plausible(const Evidence& evidence);
inline constexpr std::int32_t most_size_class = 50;
inline constexpr double least_seconds = 1e-9, most_seconds = 86400;

}  // namespace swapmeet
