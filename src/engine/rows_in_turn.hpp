/// The rule for reusing rows of shared memory without acknowledgements (node/rows.hpp). In an exchange, each rank
/// writes its row, raises its flag, and reads the blocks for it from the rows of the other ranks. Each rank has a few
/// rows and uses them in turn.
///
/// Before a rank writes its row of exchange k, it must have seen the flag of exchange k-lead, or of a later exchange,
/// from each other rank. A rank raises that flag only after it has left all earlier exchanges. With lead < rows, the
/// row to be written was last used in one of those, so no rank still reads it. With lead > 0, no two ranks wait for
/// each other.
///                                        [checked by tests/interleavings in every order, for a few ranks]
#pragma once

#include <cstdint>

namespace swapmeet {

struct RowsInTurn {
  std::uint32_t rows = 2;  ///< a power of two, because exchanges are numbered modulo 2^32
  std::uint32_t lead = 1;  ///< number of exchanges that one rank may be ahead of another

  /// Index of the row that an exchange uses. Exchanges are numbered from 1 on.
  std::uint32_t row(std::uint32_t exchange) const { return exchange & (rows - 1); }

  /// Whether `flag`, the number that was read from another rank, permits this rank to write its row of `exchange`.
  bool allows(std::uint32_t exchange, std::uint32_t flag) const {
    return static_cast<std::int32_t>(flag - (exchange - lead)) >= 0;
  }
};

}  // namespace swapmeet
