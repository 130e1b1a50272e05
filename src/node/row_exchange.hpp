/// A complete exchange by rows, for calls with no other messages under way. It uses neither the engine nor a Transfer.
/// This file contains only the protocol, without MPI, so that tests/interleavings can execute it in every order.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "node/node.hpp"

namespace swapmeet {

/// The links of the messages of an exchange by rows.
struct RowPeers {
  std::vector<NodeLink*> sends{}, receives{};
  std::vector<std::uint32_t> late{};  ///< room for the index of each received message
};

/// The progress of an exchange by rows on one rank.
struct RowProgress {
  bool written = false;  ///< whether this rank has written its row
  std::size_t left = 0;  ///< number of blocks that were late; RowPeers::late begins with their indices
};

/// Begins an exchange, after NodeRows::begin(), unless progress.written is true: writes this rank's row and reads
/// the blocks that are there. All blocks must fit into a row. Returns 0 if the exchange is complete, or `unfinished`.
///
///   progress        default-constructed before the first call
///   out(i), in(i)   return the memory of the i-th sent and received message
///   written()       called once, after this rank has written its row
template <class Out, class In, class Written>
[[gnu::always_inline]] inline int begin_by_rows(RowProgress& progress, Node& node, RowPeers& peers, Out&& out, In&& in,
                                                Written&& written) {
  NodeRows& rows = node.rows();
  if (progress.written) return unfinished;
  if (!rows.ready()) return node.waits_for(node.link(rows.still_reading())), unfinished;
  for (std::size_t i = 0; i < peers.sends.size(); ++i)
    if (const Piece block = out(i); block.bytes > 0) rows.write(peers.sends[i]->member, block);
  rows.mark_posted();
  node.raise();
  progress.written = true;
  written();
  for (std::uint32_t i = 0; i < peers.receives.size(); ++i)
    if (const Piece block = in(i); block.bytes > 0 && !rows.read(peers.receives[i]->member, block))
      peers.late[progress.left++] = i;
  return progress.left == 0 ? 0 : unfinished;
}

/// Continues an exchange after begin_by_rows() has written the row: reads late blocks that are there now, without
/// waiting. Returns 0 when the exchange is complete, `unfinished`, or an error. receive(link, block) gets a block of
/// unexpected size or transport: it returns 0, an error, or `unfinished`. `moved` is set if a late block has arrived.
template <class In, class Receive>
int read_late_rows(RowProgress& progress, Node& node, RowPeers& peers, In&& in, Receive&& receive, bool& moved) {
  NodeRows& rows = node.rows();
  const std::size_t before = std::exchange(progress.left, 0);
  for (std::size_t i = 0; i < before; ++i) {
    NodeLink& link = *peers.receives[peers.late[i]];
    const Piece block = in(peers.late[i]);
    if (rows.read(link.member, block)) continue;
    if (rows.is_up(link.member)) {
      const int error = receive(link, block);
      if (error == 0) continue;
      if (error != unfinished) return error;
    } else {
      node.waits_for(link);
    }
    peers.late[progress.left++] = peers.late[i];
  }
  if (progress.left < before) node.waiter().moved(), moved = true;
  return progress.left > 0 ? unfinished : 0;
}

}  // namespace swapmeet
