/// An exchange by rows as a whole, where nothing else is under way: neither the engine nor a Transfer takes part in it. The
/// protocol alone, without MPI: tests/interleavings executes it in every order.
#pragma once

#include <span>
#include <utility>

#include "node/node.hpp"

namespace swapmeet {

/// All messages of an exchange, after NodeRows::begin(): blocks that fit into a row. `sends`, `receives`: those of them;
/// out(i), in(i): where the i-th is. `late`: room for as many numbers as are received. Calls copy() meanwhile. Returns an
/// error, or 0. `rank` is what this rank does besides:
///   raise(), rows()               as of Node
///   waits_for(member), broken()   the same, by the number of the other one; an error, or 0
///   turn(moved)                   at the end of each look
///   receive_by_row(link, block)   a block that is not as this rank expects it: an error, or 0
template <class Rank, class Out, class In, class Copy>
[[gnu::always_inline]] inline int exchange_by_rows(Rank&& rank, std::span<NodeLink* const> sends, Out&& out,
                                                   std::span<NodeLink* const> receives, In&& in,
                                                   std::span<std::uint32_t> late, Copy&& copy) {
  NodeRows& rows = rank.rows();
  while (!rows.ready()) {
    rank.waits_for(rows.late());
    if (const int error = rank.broken()) return error;
    rank.turn(false);
  }
  for (std::size_t i = 0; i < sends.size(); ++i)
    if (const Piece block = out(i); block.bytes > 0) rows.write(sends[i]->member, block);
  rows.posted();
  rank.raise();
  copy();
  std::size_t left = 0;
  for (std::uint32_t i = 0; i < receives.size(); ++i)
    if (const Piece block = in(i); block.bytes > 0 && !rows.read(receives[i]->member, block)) late[left++] = i;
  while (left > 0) {
    const std::size_t before = std::exchange(left, 0);
    for (std::size_t i = 0; i < before; ++i) {
      NodeLink& link = *receives[late[i]];
      const Piece block = in(late[i]);
      if (rows.read(link.member, block)) continue;
      if (rows.is_up(link.member)) {
        if (const int error = rank.receive_by_row(link, block)) return error;
        continue;
      }
      rank.waits_for(link.member);
      late[left++] = late[i];
    }
    if (const int error = rank.broken()) return error;
    if (left > 0) rank.turn(left < before);
  }
  return 0;
}

}  // namespace swapmeet
