/// Reports the messages of all ranks in an exchange, round by round. If ranks are alike, the schedules of all ranks are
/// not kept in memory.
///
/// A round consists of the messages that are in flight together if all ranks proceed at the same pace: the n-th window
/// of each rank's messages. In a direct exchange it consists of `window` columns of the order, where column i holds the
/// i-th peer of each rank. A rank that is its own peer in a column is idle. With order=scatter all ranks send to the
/// same rank in turn. There, ranks in windows j and k of the order exchange in round j + k, because neither gets there
/// earlier.
///                                                                              [checked by tests/core/rounds_test.py]
#pragma once

#include <cstdint>
#include <string>

#include "model/work.hpp"
#include "schedule/spec.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

/// Interface for receiving the report of an exchange.
class RoundReader {
 public:
  virtual ~RoundReader() = default;
  /// Begins a step. `copies` are Swapmeet's copies and `typed` those of MPI in messages of scattered blocks, of the
  /// rank with the most. `sliding`: whether a message starts as soon as another one completes.
  virtual void step(const Copies& copies, const TypedCopies& typed, bool sliding) = 0;
  /// Begins a round of the step.
  virtual void round() = 0;
  /// Reports a message of the round.
  virtual void message(Rank from, Rank to, std::int64_t blocks) = 0;
};

/// Reports the exchange of `spec` to `reader`. Returns "", or the problem if the exchange is too long to be reported.
/// If all ranks are alike (Algorithm::alike_on), one rank's schedule stands for all. Direct exchanges are computed from
/// their orders. Other exchanges are generated rank by rank and kept in memory, up to most_kept_messages messages.
/// Requires that spec.family is not Family::native and that unsuitable(spec, shape) is empty.
std::string report_rounds(const Spec& spec, const Shape& shape, RoundReader& reader);

inline constexpr std::int64_t most_kept_messages = std::int64_t{1} << 25;

}  // namespace swapmeet
