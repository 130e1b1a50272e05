/// Messages within the node that are under way. They go through cells of shared memory, through rows, or by a single
/// copy, and this rank must advance each of them (node/node.hpp). Each is in a slot. The lists are kept from call
/// to call; every function takes the exchange (current_exchange.hpp) that is under way.
#pragma once

#include <vector>

#include "engine/engine.hpp"
#include "exchange/message_memory.hpp"
#include "exchange/node_transport.hpp"
#include "observe/phases.hpp"
#include "team/tags.hpp"

namespace swapmeet {

/// A message within the node, to be started.
struct NodeMessage {
  std::uint32_t slot;
  Rank peer;
  MessageKind kind;
  NodeLink& link;  ///< to `peer`
  Place place;     ///< must stay in place until the message is complete
  bool lost;       ///< as in message_memory.hpp
};

class NodeTransfers {
 public:
  explicit NodeTransfers(const NodeTransport& transport)
      : peers_(transport.peers), single_copy_(transport.single_copy) {}

  /// Makes room for `slots` messages, each of at most `most_pieces` pieces of memory.
  void make_room(std::size_t slots, std::size_t most_pieces) {
    if (!peers_) return;
    transfers_.resize(slots);
    pieces_.resize(slots * most_pieces);
    pieces_each_ = most_pieces;
  }

  /// The link to `peer`; nullptr if its messages go by MPI.
  NodeLink* link(Rank peer) const { return peers_ ? peers_->link(peer) : nullptr; }
  NodePeers* peers() const { return peers_; }

  /// Room for the pieces of the message in `slot`.
  Piece* pieces_of(std::uint32_t slot) { return pieces_.data() + slot * pieces_each_; }

  bool none() const { return in_flight_ == 0; }
  void enter() { in_flight_ = 0; }

  /// Starts a message, which goes through cells or by a single copy.
  template <bool is_send, class Exchange>
  Started start(Exchange& exchange, const NodeMessage& message) {
    const std::uint16_t call = exchange.call().number;
    const auto [pieces, bytes] = message.place;
    report_begin(exchange, message, is_send);
    if (is_send && pieces.size() == 1 && !announces(exchange, bytes) && !message.lost) [[likely]]
      if (peers_->node().send_now(message.link, pieces[0], call)) {
        report_end(exchange, message.slot);
        exchange.has_sent();
        return Started::finished;
      }
    // In place, the receivers of two single copies would wait for each other.
    const SingleCopy single_copy = exchange.in_place() ? SingleCopy{} : single_copy_;
    Transfer transfer = is_send ? Transfer::send(message.link, pieces, bytes, single_copy, call)
                                : Transfer::receive(message.link, pieces, bytes, call);
    transfer.in_place = !is_send && exchange.in_place();
    transfer.failed = is_send && message.lost;
    transfer.discards = !is_send && message.lost;
    begin(message.slot, transfer);
    if (!is_send) return Started::underway;
    exchange.has_sent();
    advance(exchange, message.slot);
    return is_over(message.slot) ? Started::finished : Started::underway;
  }

  /// Starts to receive a message whose size only its sender knows.
  template <class Exchange>
  void receive_any(Exchange& exchange, std::uint32_t slot, Rank peer, MessageKind kind, NodeLink& link) {
    report_begin(exchange, {slot, peer, kind, link, {{}, 0}, false}, false);
    begin(slot, Transfer::receive(link, {}, Transfer::any_size, exchange.call().number));
  }

  /// Makes `transfer` the message in `slot`.
  void begin(std::uint32_t slot, const Transfer& transfer) {
    transfers_[slot] = transfer;
    ++in_flight_;
  }

  template <class Exchange>
  void report_begin(Exchange& exchange, const NodeMessage& message, bool is_send) const {
    exchange.watch().begins(&transfers_[message.slot], is_send ? Direction::send : Direction::receive, message.peer,
                            message.place.bytes, static_cast<int>(message.kind));
  }
  template <class Exchange>
  void report_end(Exchange& exchange, std::uint32_t slot) const {
    exchange.watch().done(&transfers_[slot]);
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
    return peers_->broken();
  }

  /// Forgets all messages after an error.
  void abandon() {
    for (Transfer& transfer : transfers_) transfer.link = nullptr;
    in_flight_ = 0;
  }

 private:
  bool is_over(std::uint32_t slot) const { return !transfers_[slot].link; }

  /// Whether a message of this size is announced for a single copy.
  template <class Exchange>
  bool announces(const Exchange& exchange, std::size_t bytes) const {
    return !exchange.in_place() && (bytes >= single_copy_.by_kernel_bytes || bytes >= single_copy_.of_region_bytes);
  }

  /// Continues a transfer. Returns whether anything has moved. Frees the slot of a completed transfer.
  template <class Exchange>
  bool advance(Exchange& exchange, std::uint32_t slot) {
    Transfer& transfer = transfers_[slot];
    Node& node = peers_->node();
    bool moved = node.advance(transfer);
    if (transfer.wants_memory()) {
      Piece& room = *pieces_of(slot);
      room = exchange.room_for(slot, transfer.bytes);
      transfer.bytes = room.bytes;
      transfer.pieces = {&room, 1};
      moved |= node.advance(transfer);
    }
    if (!transfer.done()) return moved;
    if (transfer.cut || (transfer.failed && !transfer.outgoing)) exchange.received_wrong(MPI_ERR_TRUNCATE);
    exchange.watch().done(&transfer, static_cast<std::int64_t>(transfer.bytes));
    transfer.link = nullptr;
    --in_flight_;
    return true;
  }

  NodePeers* peers_;
  SingleCopy single_copy_;
  std::vector<Transfer> transfers_;  ///< by slot; no message where `link` is null
  std::vector<Piece> pieces_;        ///< pieces_each_ for each slot
  std::size_t pieces_each_ = 1;
  std::uint32_t in_flight_ = 0;
};

}  // namespace swapmeet
