/// An exchange by rows as a whole, where nothing else is under way: neither the engine nor a Transfer takes part in it. The
/// protocol alone, without MPI: tests/interleavings executes it in every order.
#pragma once

#include <span>
#include <utility>

#include "engine/engine.hpp"
#include "node/node.hpp"

namespace swapmeet {

/// How far an exchange by rows is on a rank.
struct RowProgress {
  bool written = false;  ///< this rank's row
  std::size_t left = 0;  ///< blocks that were late: so many numbers of `late`
};

/// All messages of an exchange, after NodeRows::begin(), as far as that can be without waiting: blocks that fit into a row.
/// `progress`: nothing at first. `sends`, `receives`: those of them; out(i), in(i): where the i-th is. `late`: room for as
/// many numbers as are received. Calls copy() meanwhile. Returns 0 where it is over; `unfinished`; or an error. `moved`: a
/// block that was late has come. `rank` is what this rank does besides:
///   raise(), rows()               as of Node
///   waits_for(member)             the same, by the number of the other one
///   receive_by_row(link, block)   a block that is not as this rank expects it: 0, an error, or `unfinished`
template <class Rank, class Out, class In, class Copy>
[[gnu::always_inline]] inline int advance_by_rows(RowProgress& progress, Rank&& rank, std::span<NodeLink* const> sends,
                                                  Out&& out, std::span<NodeLink* const> receives, In&& in,
                                                  std::span<std::uint32_t> late, Copy&& copy, bool& moved) {
  NodeRows& rows = rank.rows();
  if (!progress.written) {
    if (!rows.ready()) return rank.waits_for(rows.late()), unfinished;
    for (std::size_t i = 0; i < sends.size(); ++i)
      if (const Piece block = out(i); block.bytes > 0) rows.write(sends[i]->member, block);
    rows.posted();
    rank.raise();
    progress.written = true;
    copy();
    for (std::uint32_t i = 0; i < receives.size(); ++i)
      if (const Piece block = in(i); block.bytes > 0 && !rows.read(receives[i]->member, block))
        late[progress.left++] = i;
    if (progress.left == 0) return 0;
  }
  const std::size_t before = std::exchange(progress.left, 0);
  for (std::size_t i = 0; i < before; ++i) {
    NodeLink& link = *receives[late[i]];
    const Piece block = in(late[i]);
    if (rows.read(link.member, block)) continue;
    if (rows.is_up(link.member)) {
      const int error = rank.receive_by_row(link, block);
      if (error == 0) continue;
      if (error != unfinished) return error;
    } else {
      rank.waits_for(link.member);
    }
    late[progress.left++] = late[i];
  }
  moved = progress.left < before;
  return progress.left > 0 ? unfinished : 0;
}

/// The same until it is over. Besides, `rank` does:
///   broken()      an error, or 0
///   turn(moved)   at the end of each look
template <class Rank, class Out, class In, class Copy>
[[gnu::always_inline]] inline int exchange_by_rows(Rank&& rank, std::span<NodeLink* const> sends, Out&& out,
                                                   std::span<NodeLink* const> receives, In&& in,
                                                   std::span<std::uint32_t> late, Copy&& copy) {
  RowProgress progress;
  while (true) {
    bool moved = false;
    const int error = advance_by_rows(progress, rank, sends, out, receives, in, late, copy, moved);
    if (error != unfinished) return error;
    if (const int why = rank.broken()) return why;
    rank.turn(moved);
  }
}

}  // namespace swapmeet
