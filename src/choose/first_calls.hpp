/// The number of ordinary calls before online tuning (trials.hpp) starts.
#pragma once

#include <cstdint>

#include "options/options.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Calls on several nodes that the host MPI serves before online tuning starts: the minimum, and the number where the
/// model expects little gain.
constexpr std::int64_t first_by_host = 8, first_unpromising = 64;

/// Returns the number of ordinary calls before online tuning starts.
///
/// On several nodes the network is measured at that time. If the host MPI serves the calls (`host`), more calls precede
/// it: programs with few calls then do without the measurement. Where the model expects little gain,
/// session/online_tuning.cpp extends the number to first_unpromising.
///
/// On one node shared memory is almost certainly the fastest. Calls that take less time than ranks need to leave a
/// barrier cannot be timed one by one, so they are never tuned; longer calls are tuned after some 20 ms of calls. The
/// ranks do not know the sizes of unequal blocks, so collectives with these are tuned late.
inline std::int64_t first_calls(Collective collective, Rank ranks, std::int64_t nodes, std::int64_t block_bytes,
                                const Options& options, bool host) {
  constexpr std::int64_t between_nodes = 1, of_unequal = 20'000;
  constexpr double copied_byte_s = 1e-10, least_timed_s = 20e-6, untried_s = 20e-3;
  if (options.trials_share >= 1) return between_nodes;
  if (nodes != 1) return host ? first_by_host : between_nodes;
  if (of_unequal_blocks(collective)) return of_unequal;
  const double call_s = copied_byte_s * ranks * static_cast<double>(block_bytes);
  return call_s < least_timed_s ? INT64_MAX : static_cast<std::int64_t>(untried_s / call_s);
}

}  // namespace swapmeet
