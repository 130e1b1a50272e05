/// Messages within the node that are under way. They go through cells of shared memory or by a single copy, and this
/// rank must advance each of them (node/node.hpp). In exchanges by rows, each rank writes its blocks for node peers into
/// its row of shared memory (node/rows.hpp); a block that cannot be written or read at once is a transfer, too. Each
/// message is in a slot. The lists are kept from call to call; every function takes the exchange
/// (current_exchange.hpp) that is under way.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/engine.hpp"
#include "exchange/message_memory.hpp"
#include "node/node_peers.hpp"
#include "node/row_exchange.hpp"
#include "observe/phases.hpp"
#include "team/tags.hpp"

namespace swapmeet {

/// The means by which messages within the node are transferred.
struct NodeTransport {
  NodePeers* peers = nullptr;  ///< nullptr: messages within the node go by MPI as all others
  SingleCopy single_copy{};
  /// Whether small blocks are written into rows. Then in each exchange every rank of the node sends to every other, and
  /// the exchange has one round, window=all (algorithms/generate.cpp).
  bool by_rows = false;
};

class NodeMessages {
 public:
  explicit NodeMessages(const NodeTransport& transport) : means_(transport) {}

  /// Makes room for `slots` messages, each of at most `most_pieces` pieces of memory.
  void make_room(std::size_t slots, std::size_t most_pieces) {
    if (!peers()) return;
    transfers_.resize(slots);
    pieces_.resize(slots * most_pieces);
    pieces_each_ = most_pieces;
  }

  /// The link to `peer`; nullptr if its messages go by MPI.
  NodeLink* link(Rank peer) const { return peers() ? peers()->link(peer) : nullptr; }
  NodePeers* peers() const { return means_.peers; }

  /// Begins the next exchange. `equal_bytes`: size of every block, if all ranks know it; 0: not known.
  template <class Exchange>
  [[gnu::always_inline]] void begin_exchange(const Exchange& exchange, std::size_t equal_bytes) {
    if (!means_.by_rows) return;
    unexpected_.link = nullptr;
    // Blocks in a region are copied once, without rows.
    row_block_bytes_ = rows().block_bytes();
    if (node().regions().any()) row_block_bytes_ = std::min(row_block_bytes_, means_.single_copy.of_region_bytes - 1);
    rows().begin(exchange.call().number, equal_bytes <= row_block_bytes_ ? equal_bytes : 0);
  }

  // --- messages of a round -------------------------------------------------------------------------------------------

  bool none() const { return in_flight_ == 0; }
  void enter() { in_flight_ = 0; }

  /// Starts the message in `slot`. Its memory must stay in place until it is complete.
  template <bool is_send, class Exchange, class Memory>
  Started start(Exchange& exchange, std::uint32_t slot, Rank peer, MessageKind kind, NodeLink& link,
                const Memory& memory) {
    const auto [pieces, bytes] = memory.pieces(pieces_of(slot));
    if (bytes == 0) return Started::nothing;
    const bool lost = memory.lost(), in_place = exchange.in_place();
    const std::uint16_t call = exchange.call().number;
    report_begin(exchange, slot, is_send, peer, bytes, kind);
    const bool by_row = means_.by_rows && (!is_send || lost || bytes <= row_block_bytes_);
    if (is_send && (by_row ? write_row(link, pieces[0], lost) : send_now(exchange, link, pieces, lost))) {
      exchange.watch().done(&transfers_[slot]);
      return Started::finished;
    }
    // In place, the receivers of two single copies would wait for each other.
    const SingleCopy single_copy = in_place ? SingleCopy{} : means_.single_copy;
    Transfer transfer = by_row    ? Transfer::by_rows(link, pieces, bytes, is_send, call)
                        : is_send ? Transfer::send(link, pieces, bytes, single_copy, call)
                                  : Transfer::receive(link, pieces, bytes, call);
    transfer.in_place = !is_send && in_place;
    transfer.failed = is_send && lost;
    transfer.discards = !is_send && lost;
    begin(slot, transfer);
    if (!is_send || by_row) return Started::underway;
    exchange.has_sent();
    advance(exchange, slot);
    return is_over(slot) ? Started::finished : Started::underway;
  }

  /// Starts to receive a message whose size only its sender knows.
  template <class Exchange>
  void receive_any(Exchange& exchange, std::uint32_t slot, Rank peer, MessageKind kind, NodeLink& link) {
    report_begin(exchange, slot, false, peer, 0, kind);
    begin(slot, Transfer::receive(link, {}, Transfer::any_size, exchange.call().number));
  }

  /// Advances the messages in slots 0 to `slots`-1. Calls done(slot) for each that is complete. Sets `moved` if bytes
  /// have moved.
  template <class Exchange, class Done>
  int advance_all(Exchange& exchange, std::size_t slots, bool& moved, Done&& done) {
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      if (is_over(slot)) continue;
      moved |= advance(exchange, slot);
      if (!is_over(slot)) continue;
      if (const int error = done(slot)) return error;
    }
    return peers()->broken();
  }

  /// Forgets all messages after an error.
  void abandon() {
    for (Transfer& transfer : transfers_) transfer.link = nullptr;
    in_flight_ = 0;
  }

  // --- rows ----------------------------------------------------------------------------------------------------------

  /// Size of the largest block that this rank writes into its row; 0: exchanges do not use rows.
  std::size_t row_block_bytes() const { return row_block_bytes_; }

  /// Whether the flag of this rank's row must still be raised. Other ranks wait for it, even if this rank waits for
  /// nothing.
  bool flag_is_due() const { return means_.by_rows && !rows().raised(); }
  /// Raises the flag if that is possible. Returns whether it is raised.
  template <class Exchange>
  bool raise_flag(Exchange& exchange) {
    if (!node().raise()) return false;
    exchange.has_sent();
    return true;
  }
  /// Records that all blocks have been written or deferred, and raises the flag if that is possible.
  template <class Exchange>
  void mark_posted(Exchange& exchange) {
    if (!means_.by_rows) return;
    rows().mark_posted();
    raise_flag(exchange);
  }

  /// begin_by_rows() for all blocks of a step, without the engine. Requires blocks of up to row_block_bytes(). Calls
  /// copy() once, while other ranks write their rows.
  template <class Exchange, class Out, class In, class Copy>
  [[gnu::always_inline]] int try_rows(Exchange& exchange, RowProgress& progress, RowPeers& row_peers, Out&& out,
                                      In&& in, Copy&& copy) {
    return begin_by_rows(progress, node(), row_peers, out, in, [&] {
      exchange.has_sent();
      node().waiter().publish_core();
      if (!exchange.call().waits) node().waiter().moved();
      copy();
    });
  }

  /// read_late_rows() for these blocks.
  template <class Exchange, class In>
  int read_late(Exchange& exchange, RowProgress& progress, RowPeers& row_peers, In&& in, bool& moved) {
    const auto receive = [&](NodeLink& link, const Piece& block) {
      return receive_unexpected(exchange, link, block, moved);
    };
    return read_late_rows(progress, node(), row_peers, in, receive, moved);
  }

 private:
  Node& node() const { return peers()->node(); }
  NodeRows& rows() const { return node().rows(); }
  bool is_over(std::uint32_t slot) const { return !transfers_[slot].link; }

  /// Room for the pieces of the message in `slot`.
  Piece* pieces_of(std::uint32_t slot) { return pieces_.data() + slot * pieces_each_; }

  template <class Exchange>
  void report_begin(Exchange& exchange, std::uint32_t slot, bool is_send, Rank peer, std::size_t bytes,
                    MessageKind kind) const {
    exchange.watch().begins(&transfers_[slot], is_send ? Direction::send : Direction::receive, peer, bytes,
                            static_cast<int>(kind));
  }

  /// Makes `transfer` the message in `slot`.
  void begin(std::uint32_t slot, const Transfer& transfer) {
    transfers_[slot] = transfer;
    ++in_flight_;
  }

  /// Writes a block into the row, or marks it as lost. Returns false if the row may still be read; then the block is
  /// written later.
  bool write_row(NodeLink& link, const Piece& block, bool lost) {
    if (lost) rows().mark_failed(link.member);
    else if (!rows().ready()) return rows().defer(), false;
    else rows().write(link.member, block);
    link.left = NodeLink::all_left;
    return true;
  }

  /// Sends a message that does not go by the row, if that is possible at once.
  template <class Exchange>
  bool send_now(Exchange& exchange, NodeLink& link, std::span<const Piece> pieces, bool lost) {
    if (means_.by_rows) rows().mark_elsewhere(link.member);
    const SingleCopy& by_copy = means_.single_copy;
    const bool announces =
        !exchange.in_place() && pieces[0].bytes >= std::min(by_copy.by_kernel_bytes, by_copy.of_region_bytes);
    if (pieces.size() != 1 || announces || lost || !node().send_now(link, pieces[0], exchange.call().number))
      return false;
    exchange.has_sent();
    return true;
  }

  /// Continues a transfer. Returns whether anything has moved. Frees the slot of a completed transfer.
  template <class Exchange>
  bool advance(Exchange& exchange, std::uint32_t slot) {
    Transfer& transfer = transfers_[slot];
    bool moved = node().advance(transfer);
    if (transfer.wants_memory()) {
      Piece& room = *pieces_of(slot);
      room = exchange.room_for(slot, transfer.bytes);
      transfer.bytes = room.bytes;
      transfer.pieces = {&room, 1};
      moved |= node().advance(transfer);
    }
    if (!transfer.done()) return moved;
    if (transfer.cut || (transfer.failed && !transfer.outgoing)) exchange.received_wrong(MPI_ERR_TRUNCATE);
    exchange.watch().done(&transfer, static_cast<std::int64_t>(transfer.bytes));
    transfer.link = nullptr;
    --in_flight_;
    return true;
  }

  /// Receives a block that does not have the size or the transport which this rank expects: `unfinished` until it
  /// has arrived. At most one such receive is under way: meanwhile a call for any other link returns `unfinished`.
  template <class Exchange>
  [[gnu::noinline]] int receive_unexpected(Exchange& exchange, NodeLink& link, const Piece& block, bool& moved) {
    if (!unexpected_.link) {
      unexpected_block_ = block;
      unexpected_ = Transfer::by_rows(link, {&unexpected_block_, 1}, block.bytes, false, exchange.call().number);
    }
    if (unexpected_.link != &link) return unfinished;
    moved |= node().advance(unexpected_);
    if (!unexpected_.done()) return unfinished;
    if (unexpected_.cut || unexpected_.failed) exchange.received_wrong(MPI_ERR_TRUNCATE);
    unexpected_.link = nullptr;
    return MPI_SUCCESS;
  }

  NodeTransport means_;
  std::vector<Transfer> transfers_;  ///< by slot; no message where `link` is null
  std::vector<Piece> pieces_;        ///< pieces_each_ for each slot
  std::size_t pieces_each_ = 1;
  std::uint32_t in_flight_ = 0;
  std::size_t row_block_bytes_ = 0;
  Transfer unexpected_{};  ///< of receive_unexpected(); none if `link` is null
  Piece unexpected_block_{};
};

}  // namespace swapmeet
