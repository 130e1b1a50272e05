/// How many calls go as usual before anything is tried on the running application (trials.hpp).
#pragma once

#include <cstdint>

#include "options/options.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Calls between nodes that the host MPI serves, before anything is tried: at least, and where little is expected of it.
constexpr std::int64_t first_by_host = 8, first_unpromising = 64;

/// Calls that go as usual before anything is tried. Between nodes what the network takes is measured then, for which ours()
/// is made: programs of few calls that the host MPI serves (`host`) do without, of some more where the model promises
/// little. On one node shared memory is all but certain to be the fastest, and what takes less than ranks need to leave a
/// barrier cannot be timed by single calls: the larger ones are tried after some 20 ms of them, the others never; of unequal
/// blocks nobody knows the sizes, so they are tried late.
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
