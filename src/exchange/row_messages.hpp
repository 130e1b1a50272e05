/// The messages of an exchange in which each rank writes its blocks for node peers into its row of shared memory
/// (node/rows.hpp). A block that cannot be written or read at once is a transfer of `transfers`. Every function takes
/// the exchange (current_exchange.hpp) that is under way.
#pragma once

#include <algorithm>

#include "engine/engine.hpp"
#include "exchange/node_transfers.hpp"
#include "node/row_exchange.hpp"

namespace swapmeet {

class RowMessages {
 public:
  explicit RowMessages(const NodeTransport& transport)
      : peers_(transport.by_rows ? transport.peers : nullptr), of_region_bytes_(transport.single_copy.of_region_bytes) {
  }

  /// Whether exchanges use rows.
  bool used() const { return peers_ != nullptr; }
  /// Size of the largest block that this rank writes into its row.
  std::size_t block_bytes() const { return block_bytes_; }

  /// Begins the next exchange. `equal_bytes`: size of every block, if all ranks know it; 0: not known.
  template <class Exchange>
  [[gnu::always_inline]] void begin(const Exchange& exchange, std::size_t equal_bytes) {
    if (!used()) return;
    unexpected_.link = nullptr;
    // Blocks in a region are copied once, without rows.
    block_bytes_ = rows().block_bytes();
    if (node().regions().any()) block_bytes_ = std::min(block_bytes_, of_region_bytes_ - 1);
    rows().begin(exchange.call().number, equal_bytes <= block_bytes_ ? equal_bytes : 0);
  }

  /// Whether the flag of this rank's row must still be raised. Other ranks wait for it, even if this rank waits for
  /// nothing.
  bool flag_is_due() const { return used() && !rows().raised(); }
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
    if (!used()) return;
    rows().mark_posted();
    raise_flag(exchange);
  }

  /// Starts a message by the row. Returns Started::nothing if it goes through the channel instead.
  template <bool is_send, class Exchange>
  Started start(Exchange& exchange, NodeTransfers& transfers, const NodeMessage& message) {
    const std::uint32_t member = message.link.member;
    const bool marked = is_send && message.lost, writes = is_send && !marked && rows().ready();
    if (is_send && !marked && message.place.bytes > block_bytes_) {
      rows().mark_elsewhere(member);
      return Started::nothing;
    }
    transfers.report_begin(exchange, message, is_send);
    if (marked) rows().mark_failed(member);
    if (writes) rows().write(member, message.place.pieces.front());
    if (marked || writes) {
      transfers.report_end(exchange, message.slot);
      message.link.left = NodeLink::all_left;
      return Started::finished;
    }
    if (is_send) rows().defer();
    Transfer transfer =
        Transfer::by_rows(message.link, message.place.pieces, message.place.bytes, is_send, exchange.call().number);
    transfer.discards = !is_send && message.lost;
    transfer.in_place = !is_send && exchange.in_place();
    transfers.begin(message.slot, transfer);
    return Started::underway;
  }

  /// begin_by_rows() for all blocks of a step, without the engine. Requires blocks of up to block_bytes(). Calls copy()
  /// once, while other ranks write their rows.
  template <class Exchange, class Out, class In, class Copy>
  [[gnu::always_inline]] int try_exchange(Exchange& exchange, RowProgress& progress, RowPeers& peers, Out&& out,
                                          In&& in, Copy&& copy) {
    return begin_by_rows(progress, node(), peers, out, in, [&] {
      exchange.has_sent();
      node().waiter().publish_core();
      copy();
    });
  }

  /// read_late_rows() for these blocks.
  template <class Exchange, class In>
  int read_late(Exchange& exchange, RowProgress& progress, RowPeers& peers, In&& in, bool& moved) {
    const auto receive = [&](NodeLink& link, const Piece& block) {
      return receive_unexpected(exchange, link, block, moved);
    };
    return read_late_rows(progress, node(), peers, in, receive, moved);
  }

 private:
  Node& node() const { return peers_->node(); }
  NodeRows& rows() const { return node().rows(); }

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

  NodePeers* peers_;
  std::size_t of_region_bytes_;
  std::size_t block_bytes_ = 0;
  Transfer unexpected_{};  ///< of receive_unexpected(); none if `link` is null
  Piece unexpected_block_{};
};

}  // namespace swapmeet
