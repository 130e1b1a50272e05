/// What is known of the time that a spec takes for calls of one kind: who measured it, how often, and how sure that is.
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

/// Calls for which one choice is made.
struct CallKind {
  Collective collective = Collective::alltoall;
  Rank ranks = 2;
  std::int32_t nodes = 1;
  Rank least_per_node = 2, most_per_node = 2;  ///< ranks of the nodes that have the fewest and the most
  /// Of a block, of unequal ones on average; as block_class() says. unknown_class: ranks do not know their sizes.
  std::int32_t size_class = 0;
  /// On one node, where all that is sent lies in memory that the others copy from without the kernel.
  bool direct = false;

  double mean_per_node() const { return static_cast<double>(ranks) / nodes; }

  auto operator<=>(const CallKind&) const = default;
};

inline constexpr std::int32_t unknown_class = -1;

/// k: blocks of about 2^k bytes, the nearest by ratio; empty ones are of class 0.
constexpr std::int32_t block_class(std::int64_t bytes) {
  if (bytes < 2) return 0;
  const auto power = static_cast<std::int32_t>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1;
  const double excess = static_cast<double>(bytes) / static_cast<double>(std::int64_t{1} << power);
  return power + (excess * excess > 2 ? 1 : 0);
}

/// The sizes of blocks that are of a class.
Range bytes_of_class(std::int32_t size_class);

/// Who measured. A later one outranks those before it.
enum class Measurer : std::uint8_t {
  model,        ///< nobody: a price by a description of the machine
  calibration,  ///< `swapmeet calibrate`
  trial,        ///< a running application
  tune,         ///< `swapmeet tune`
};
inline constexpr std::array<std::string_view, 4> measurer_names{"model", "calibration", "trial", "tune"};

/// How often a run of a program made calls of a kind.
struct CallsMade {
  std::int64_t calls = 0;     ///< on each communicator, at least; 0: not known
  std::uint64_t program = 0;  ///< as program_number() (memory.hpp)

  bool operator==(const CallsMade&) const = default;
};

/// The time of one spec, for the slowest rank.
struct Evidence {
  CallKind kind;
  Spec spec;  ///< native: the host MPI
  std::int64_t calls = 0;
  double mean_s = 0, spread_s = 0;  ///< of a call; spread: the standard deviation of the mean
  Measurer by = Measurer::trial;
  std::int64_t date = 0;  ///< when, in seconds since 1970; 0: in this run
  CallsMade made{};       ///< by the last run that made any

  bool operator==(const Evidence&) const = default;
};

/// Whether evidence can be true: calls that can be, and a time from a nanosecond to a day. What was stored may be anything.
bool plausible(const Evidence& evidence);
inline constexpr std::int32_t most_size_class = 50;
inline constexpr double least_seconds = 1e-9, most_seconds = 86400;

}  // namespace swapmeet
