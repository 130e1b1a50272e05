/// The rule by which rows of shared memory are used again without acknowledgements (node/rows.hpp): each rank writes its
/// row of an exchange, raises its flag, and reads what the others wrote for it. It has a few rows, which it uses in turn.
///
/// Before a rank writes its row of exchange k, it has seen every other rank's flag of exchange k-(rows-1), or a later
/// one. A rank that has raised that flag has left the exchange before, k-rows, whose row is overwritten now: so nobody
/// reads it any more.                                          [checked by verify/rows.cpp in every order, for a few ranks]
#pragma once

#include <cstdint>

namespace swapmeet {

struct RowsInTurn {
  std::uint32_t rows = 2;  ///< a power of two, for exchanges are numbered modulo 2^32

  /// Which of the rows is of an exchange. They are numbered from 1 on.
  std::uint32_t row(std::uint32_t exchange) const { return exchange & (rows - 1); }

  /// The exchange whose flags a rank must have seen before it writes its row of `exchange`.
  std::uint32_t seen_before(std::uint32_t exchange) const { return exchange - (rows - 1); }
};

}  // namespace swapmeet
