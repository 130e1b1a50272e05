/// The layout of the shared memory of a node. It begins with the header, the waiter slots of all ranks, and the heads
/// of their rows. Then follow, for each rank, the acknowledgements that it writes and the cells that it fills, for all
/// other ranks. At the end, each rank has the bulk of these cells and of its rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/row_size.hpp"
#include "node/arenas.hpp"
#include "node/channel.hpp"
#include "node/waiter.hpp"

namespace swapmeet {

struct NodeLayout {
  std::uint32_t members = 1;
  ChannelSize channel;
  std::uint32_t row_block_bytes = 0;  ///< as in RowSize

  RowSize rows() const { return {members, row_block_bytes}; }
  static std::size_t waiter_slot(std::uint32_t member) { return sizeof(PartHeader) + member * sizeof(WaiterSlot); }
  std::size_t row_heads(std::uint32_t member) const { return waiter_slot(members) + member * rows().heads_bytes(); }
  std::size_t acknowledgements(std::uint32_t member) const {
    return row_heads(members) +
           std::size_t{member} * members * (sizeof(Acknowledgement) + channel.cells * sizeof(Cell));
  }
  std::size_t cells(std::uint32_t member) const { return acknowledgements(member) + members * sizeof(Acknowledgement); }
  std::size_t bulk(std::uint32_t member) const;  ///< begins on a page boundary
  std::size_t row_bulks(std::uint32_t member) const { return bulk(member) + cell_bulk_bytes(); }
  std::size_t bytes() const { return bulk(members); }

  /// Clears all memory behind the header that a rank may read before another rank has written it. The waiter slots stay
  /// as they are, because each rank writes its own. One rank must call this before any rank exchanges anything.
  void clear(char* memory) const;

  /// The layout with channels of the largest useful size that takes at most `most_bytes`. If there is none,
  /// channel.cells is 0.
  static NodeLayout within(std::uint32_t members, std::size_t most_bytes);

 private:
  /// Bytes of the bulk of the cells of one rank.
  std::size_t cell_bulk_bytes() const { return std::size_t{members} * channel.cells * channel.bulk_bytes; }
};

}  // namespace swapmeet
