/// The rule by which rows of shared memory are used again without acknowledgements (node/rows.hpp): in an exchange each
/// rank writes its row, raises its flag, and reads what the others wrote for it. It has a few rows, and uses them in turn.
///
/// Before a rank writes its row of exchange k, it has seen each other rank's flag of exchange k-lead, or of a later one.
/// A rank that has raised that flag has left all exchanges before; with lead < rows, that of the row which is written
/// now is one of them, so nobody reads there any more. With lead > 0 no rank waits for one that waits for it.
///                                                           [checked by search_rows() in every order, for a few ranks]
#pragma once

#include <cstdint>

namespace swapmeet {

struct RowsInTurn {
  std::uint32_t rows = 2;  ///< a power of two, for exchanges are numbered modulo 2^32
  std::uint32_t lead = 1;  ///< by so many exchanges a rank may be ahead of another

  /// Which of the rows is of an exchange. They are numbered from 1 on.
  std::uint32_t row(std::uint32_t exchange) const { return exchange & (rows - 1); }

  /// Whether a flag that was seen is of the exchange that a rank must have seen before it writes its row of `exchange`,
  /// or of a later one.
  bool allows(std::uint32_t exchange, std::uint32_t flag) const {
    return static_cast<std::int32_t>(flag - (exchange - lead)) >= 0;
  }
};

}  // namespace swapmeet
