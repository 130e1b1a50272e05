/// The size of the rows of shared memory of a node, and the layout of the blocks in them (node/rows.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/rows_in_turn.hpp"

namespace swapmeet {

struct RowSize {
  std::uint32_t members = 1;
  std::uint32_t block_bytes = 0;  ///< size of the largest block in a row, in whole cache lines; 0: the node has no rows

  static constexpr RowsInTurn turns{};
  /// Size of the largest block in a row if memory is not short and the node has few ranks (NodeLayout::within()).
  static constexpr std::uint32_t most_block_bytes = 8192;
  static constexpr std::size_t line = 64, flag_bytes = 8, entry_bytes = 8;

  static constexpr std::size_t aligned(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

  /// Sizes of the parts of one row. The table is the flag and one entry for each block.
  std::size_t table_bytes() const { return flag_bytes + (members - 1) * entry_bytes; }
  std::size_t head_bytes() const { return aligned(table_bytes(), line); }
  std::size_t bulk_bytes() const { return std::size_t{members - 1} * block_bytes + line; }

  /// Sizes of the parts of all rows of a rank.
  std::size_t heads_bytes() const { return block_bytes == 0 ? 0 : turns.rows * head_bytes(); }
  std::size_t bulks_bytes() const { return block_bytes == 0 ? 0 : turns.rows * bulk_bytes(); }

  /// Positions of blocks of one size, as offsets from the beginning of the head. Offsets beyond the end of the head
  /// continue in the bulk.
  struct Spacing {
    std::size_t first, apart;
    std::size_t offset(std::uint32_t n) const { return first + n * apart; }
  };
  Spacing spacing(std::size_t bytes) const {
    const std::size_t near = aligned(bytes, 8);
    const bool fit = flag_bytes + (members - 1) * near <= head_bytes();
    return fit ? Spacing{flag_bytes, near} : Spacing{head_bytes(), apart(bytes)};
  }

  /// Distance from one block in the bulk to the next, chosen so that no block touches more cache lines than necessary.
  static std::size_t apart(std::size_t bytes) {
    if (bytes > line / 2) return aligned(bytes, line);
    std::size_t least = 8;
    while (least < bytes) least *= 2;
    return least;
  }
};

}  // namespace swapmeet
