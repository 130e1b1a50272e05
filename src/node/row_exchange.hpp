/// A complete exchange by rows, for calls with no other messages under way. It uses neither the engine nor a Transfer.
/// This file contains only the protocol, without MPI, so that tests/interleavings can execute it in every order.
#pragma once

#include <span>
#include <utility>

#include "engine/engine.hpp"
#include "node/node.hpp"

namespace swapmeet {

/// The progress of an exchange by rows on one rank.
struct RowProgress {
  bool written = false;  ///< whether this rank has written its row
  std::size_t left = 0;  ///< number of blocks that were late: `late` holds as many indices
};

/// Continues an exchange as far as possible without waiting, after NodeRows::begin(). All blocks must fit into a row.
/// Returns 0 when it is complete, `unfinished`, or an error.
///
///   progress         default-constructed before the first call
///   sends, receives  links of the messages; out(i) and in(i) return the memory of the i-th
///   late             room for one number per received message
///   copy             called once, after this rank has written its row
///   moved            set if a late block has arrived
///   rank             the other operations of this rank:
///     raise(), rows()               as in Node
///     waits_for(member)             as in Node, but with the number of the late rank
///     receive_by_row(link, block)   receives a block of unexpected size or transport: 0, an error, or `unfinished`
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

/// Variant that returns when the exchange is complete. `rank` has two more operations:
///   broken()      returns an error, or 0
///   turn(moved)   called at the end of each poll
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
