/// Messages that are under way during the whole exchange, besides those of its rounds: blocks that are sent directly
/// from their source to their destination while smaller ones are forwarded. All receives are started before the sends.
/// Every function takes the exchange (current_exchange.hpp) that is under way.
#pragma once

#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "exchange/node_transfers.hpp"
#include "mpi/outcome.hpp"
#include "observe/phases.hpp"
#include "team/tags.hpp"

namespace swapmeet {

class BackgroundMessages {
 public:
  explicit BackgroundMessages(const NodeTransport& transport) : in_node_(transport) {}

  /// Makes room for `messages` messages, sends and receives together.
  void make_room(std::size_t messages) {
    requests_.assign(messages, MPI_REQUEST_NULL);
    statuses_.resize(messages);
    in_node_.make_room(messages, 1);
  }

  /// Whether any were started in this exchange; they may be complete.
  bool any() const { return started_by_mpi_ + started_in_node_ > 0; }
  bool any_by_mpi() const { return started_by_mpi_ > 0; }
  bool any_in_node() const { return !in_node_.none(); }

  template <bool is_send, class Exchange, class Memory>
  int start(Exchange& exchange, Rank peer, const Memory& memory) {
    if (NodeLink* const link = in_node_.link(peer)) {
      const auto slot = static_cast<std::uint32_t>(started_in_node_);
      const Place place = memory.pieces(in_node_.pieces_of(slot));
      const NodeMessage message{slot, peer, MessageKind::direct, *link, place, memory.lost()};
      if (in_node_.start<is_send>(exchange, message) == Started::underway) ++started_in_node_;
      return MPI_SUCCESS;
    }
    MPI_Request* const request = &requests_[started_by_mpi_++];
    if (!is_send) receives_ = started_by_mpi_;
    return exchange.template start<is_send>(request, exchange.template part_of<is_send>(memory), peer,
                                            MessageKind::direct);
  }

  /// Advances the messages within the node. Sets `moved` if bytes have moved.
  template <class Exchange>
  int advance_in_node(Exchange& exchange, bool& moved) {
    return in_node_.advance_all(exchange, started_in_node_, moved, [](std::uint32_t) { return MPI_SUCCESS; });
  }

  /// Completes all messages. Returns 0, `unfinished`, or an error.
  template <class Exchange>
  int finish(Exchange& exchange, bool& moved) {
    if (any_in_node())
      if (const int error = advance_in_node(exchange, moved)) return error;
    const std::span<MPI_Request> all(requests_.data(), started_by_mpi_);
    const int error = exchange.finish(all, receives_, statuses_.data(), exchange.call().waits && !any_in_node());
    if (error) return error;
    if (any_in_node()) return unfinished;
    exchange.watch().done(std::span<const MPI_Request>(all));
    forget();
    return MPI_SUCCESS;
  }

  /// Gives up all messages after an error.
  void abandon() {
    const auto all = std::span(requests_).first(started_by_mpi_);
    swapmeet::abandon(all.first(receives_), all.subspan(receives_));
    in_node_.abandon();
    forget();
  }

 private:
  void forget() { started_by_mpi_ = receives_ = started_in_node_ = 0; }

  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  NodeTransfers in_node_;
  std::size_t started_by_mpi_ = 0, receives_ = 0;  ///< requests in use, of which the first are receives
  std::size_t started_in_node_ = 0;                ///< slots of in_node_ in use
};

}  // namespace swapmeet
