/// All messages of an exchange, of all ranks, round by round, without the schedules of all ranks in memory where these
/// are alike.
///
/// A round is what is in flight together if all ranks keep in step: the n-th window of each rank's messages. Of a
/// direct exchange it is so many columns of its order; a rank whose turn is its own is idle meanwhile. Where all send
/// to the same rank in turn (order=scatter), ranks j and k of the order exchange in round j + k: neither gets there
/// earlier.  [checked by tests/core/rounds_test.py]
#pragma once

#include <cstdint>
#include <string>

#include "model/work.hpp"
#include "schedule/spec.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

/// Hears of an exchange.
class RoundReader {
 public:
  virtual ~RoundReader() = default;
  /// Begins a step: its copies, of the rank that has the most, ours and those that MPI makes in messages of scattered
  /// blocks; and whether a message starts whenever another is over.
  virtual void step(const Copies& copies, const TypedCopies& typed, bool sliding) = 0;
  /// Begins a round of the step.
  virtual void round() = 0;
  virtual void message(Rank from, Rank to, std::int64_t blocks) = 0;
};

/// Reports all of `spec` to `reader`. Returns what is wrong: the exchange is too long to be reported, or "". Where all
/// ranks do alike (Algorithm::alike_on), one rank's schedule stands for all; direct exchanges are made of their orders;
/// all others rank by rank, and kept: most_kept_messages at most. Requires spec.family != Family::native and
/// unsuitable(spec, shape) empty.
std::string report_rounds(const Spec& spec, const Shape& shape, RoundReader& reader);

/// The same of ranks that do alike on `grid`, as far as the first `senders` of them send.
void report_alike(const Spec& spec, const Shape& shape, const Arrangement& grid, Rank senders, RoundReader& reader);

inline constexpr std::int64_t most_kept_messages = std::int64_t{1} << 25;

}  // namespace swapmeet
