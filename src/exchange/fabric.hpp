/// The fabric of the engine: it transfers messages by MPI and, between ranks of one node, by shared memory or a single
/// copy. It chooses the way of each message and waits; the messages themselves are the matter of its parts:
///
///   CurrentExchange     what all parts know of the exchange; single MPI messages
///   MpiMessages         the messages of a round that go by MPI, with headers and grants, or probed for
///   NodeMessages        the messages of a round that go within the node: by cells, by a single copy, or by rows of
///                       shared memory, into which a rank writes its blocks for all node peers (node/rows.hpp)
///
/// Messages that are under way during the whole exchange are a round of their own, the background: blocks that are sent
/// directly from their source to their destination while smaller ones are forwarded.
#pragma once

#include <sched.h>

#include "exchange/current_exchange.hpp"
#include "exchange/mpi_messages.hpp"
#include "exchange/node_messages.hpp"

namespace swapmeet {

/// The messages of the rounds, or of the background. A plan keeps the object from call to call.
struct RoundMessages {
  explicit RoundMessages(const NodeTransport& transport) : in_node(transport) {}

  /// Makes room for the messages of a window, each of at most `most_pieces` pieces of memory. `headers`: some have
  /// headers, or are probed for. `grants`: some wait for grants.
  void make_room(std::uint32_t window, bool headers, bool grants, std::size_t most_pieces = 1) {
    by_mpi.make_room(window, headers, grants);
    in_node.make_room(2 * std::size_t{window}, most_pieces);
  }

  bool any() const { return by_mpi.in_flight() > 0 || !in_node.none(); }
  void abandon() {
    by_mpi.abandon();
    in_node.abandon();
  }

  MpiMessages by_mpi;
  NodeMessages in_node;
};

/// `Watching`: as for CurrentExchange.
template <class Watching>
class Fabric {
 public:
  /// `background`: nullptr if there are no such messages. The other arguments are as for CurrentExchange.
  Fabric(RoundMessages& messages, RoundMessages* background, ReceiveBuffers* buffers, Failure& failure, LostData& lost,
         bool passes_on)
      : exchange_(failure, lost, buffers, passes_on), messages_(messages), background_(background) {}

  /// Prepares for the next exchange. `block_bytes`: size of every block, if all ranks know it; 0: not known. The other
  /// arguments are as for CurrentExchange::bind().
  [[gnu::always_inline]] void bind(const Invocation& call, int failure, Watching watch, std::size_t block_bytes = 0,
                                   bool in_place = false) {
    exchange_.bind(call, failure, watch, in_place);
    if (in_place) peers()->node().begin_in_place();  // all ranks are on this node, so shares_node() holds
    messages_.in_node.begin_exchange(exchange_, block_bytes);
  }

  const Invocation& call() const { return exchange_.call(); }
  const Watching& watch() const { return exchange_.watch(); }
  LostData& lost_data() const { return exchange_.lost_data(); }

  /// Whether this rank has sent anything in this exchange.
  bool sent() const { return exchange_.sent(); }

  /// Whether this rank has joined shared memory with other ranks of its node, and this exchange uses it.
  bool shares_node() const { return peers() != nullptr; }
  /// Whether messages of `peer` go within the node.
  bool in_node(Rank peer) const { return messages_.in_node.link(peer) != nullptr; }

  // --- called by payloads (engine/engine.hpp) ------------------------------------------------------------------------

  /// Starts the message in `slot`, which is in `memory` (message_memory.hpp). Sets `started`, which must be
  /// Started::nothing before. `together`: number of the message among the messages between the two ranks that are under
  /// way together, for its tag.
  template <bool is_send, class Memory>
  [[gnu::always_inline]] int start(std::uint32_t slot, Rank peer, MessageKind kind, const Memory& memory,
                                   Started& started, std::uint32_t together = 0) {
    return start_one_of<is_send>(messages_, slot, peer, kind, memory, started, together);
  }

  /// Sends one message and receives another, by MPI. Waits until both are complete; requires call().waits, and that
  /// the end of each message need not be reported at once (Watch::follows()).
  [[gnu::always_inline]] int swap(const Part& out, Rank to, const Part& in, Rank from) {
    Part really_sent = out;
    if (exchange_.sends_lost_data()) [[unlikely]]
      really_sent = lost_data().sent(bytes_of(out));
    // MPICH's MPI_Sendrecv takes 0.7 us longer than two requests. If ranks may die, this rank looks for faults while it
    // waits, which MPI_Sendrecv cannot.
    const bool by_requests = host_is_mpich || survives_faults;
    return by_requests && !simulated ? messages_.by_mpi.swap(exchange_, really_sent, to, in, from)
                                     : exchange_.swap(really_sent, to, in, from);
  }

  /// Sends the header of the message in `slot`, by MPI.
  int send_header(std::uint32_t slot, Rank peer, std::span<const char> header, std::uint32_t together) {
    const Part part{const_cast<char*>(header.data()), static_cast<std::int64_t>(header.size()), MPI_BYTE};
    return messages_.by_mpi.send_header(exchange_, slot, part, peer, together);
  }
  /// As in MpiMessages.
  void await_header() { messages_.by_mpi.await_header(); }
  void header_arrived() { messages_.by_mpi.header_arrived(); }

  /// Receives a message whose size only its sender knows, into memory of the receive buffers. `together`: as in
  /// start().
  void receive_any(std::uint32_t slot, Rank peer, MessageKind kind, std::uint32_t together) {
    if (NodeLink* const link = messages_.in_node.link(peer))
      return messages_.in_node.receive_any(exchange_, slot, peer, kind, *link);
    messages_.by_mpi.expect(slot, peer, exchange_.tag_here(kind, together));
  }

  /// Makes ready for at most `window` messages in each direction that may be under way until the end of the exchange.
  void begin_background(std::uint32_t window) {
    background_->by_mpi.enter(window, false);
    background_->in_node.enter();
  }
  /// Starts one of them. `number`: among those in its direction.
  template <bool is_send, class Memory>
  int start_background(std::uint32_t number, Rank peer, const Memory& memory) {
    Started started = Started::nothing;
    const std::uint32_t slot = is_send ? background_->by_mpi.window() + number : number;
    return start_one_of<is_send>(*background_, slot, peer, MessageKind::direct, memory, started, 0);
  }

  /// Size of the largest block that this rank writes into its row.
  std::size_t row_block_bytes() const { return messages_.in_node.row_block_bytes(); }

  /// Exchanges all messages of a step by rows of shared memory, without the engine (begin_by_rows()). Requires blocks
  /// of at most row_block_bytes(). Calls copy() once, while other ranks write their rows. Returns 0, `unfinished`,
  /// or an error; after `unfinished` the same call continues the exchange.
  template <class Out, class In, class Copy>
  [[gnu::always_inline]] int exchange_rows(RowProgress& progress, RowPeers& row_peers, Out&& out, In&& in,
                                           Copy&& copy) {
    if (messages_.in_node.try_rows(exchange_, progress, row_peers, out, in, copy) == 0) [[likely]]
      return MPI_SUCCESS;
    RowProgress rest = progress;  // a copy, so that `progress` can be kept in registers until here
    const int error = exchange_rows_waiting(rest, row_peers, out, in, copy);
    progress = rest;
    return error;
  }

  /// Raises the flag of this rank's row, which other ranks wait for. Returns 0, `unfinished`, or an error.
  [[gnu::always_inline]] int raise_row_flag() {
    return messages_.in_node.flag_is_due() ? raise_late_flag() : MPI_SUCCESS;
  }

  // --- called by the engine ------------------------------------------------------------------------------------------

  /// Begins `round`, which has this index in the schedule or flow. The numbers of polls are chosen, not measured.
  void enter(std::size_t index, const Round& round) {
    watch().step(index);
    patience_ = round.completion == Completion::test ? 1024 : 16;  // complete=test asks for busy polling
    polls_ = 0;
    if (shares_node()) peers()->node().waiter().publish_core();
    messages_.by_mpi.enter(round.in_flight(), round.posting == Posting::granted);
    messages_.in_node.enter();
  }

  /// Called when all sends of the round have been started.
  void all_sends_started() { messages_.in_node.mark_posted(exchange_); }

  /// Scopes: until the returned object is destroyed, the time of this rank counts as that of the phase.
  [[nodiscard]] auto in_transfer_phase() const { return watch().during(CallPhase::transfer); }
  [[nodiscard]] auto in_wait_phase() const { return watch().during(CallPhase::wait); }

  /// Whether all messages in flight are MPI requests that can be completed by one wait for all of them.
  bool can_finish_all() const {
    return !watch().follows() && messages_.in_node.none() && messages_.by_mpi.have_one_request_each() &&
           !messages_.by_mpi.expects_any() && !background_in_node() && !messages_.in_node.flag_is_due();
  }

  /// Completes all messages in flight. Requires can_finish_all(). Returns 0, `unfinished`, or an error.
  int finish_all() { return messages_.by_mpi.finish_all(exchange_, call().waits); }

  /// Polls all messages of the round once, and advances background messages within the node. `active`: number of
  /// messages of the round in flight. Calls done(slot) for each slot whose header or message is complete. Sets `moved`
  /// if bytes have moved.
  template <class Done>
  int poll(std::uint32_t active, bool& moved, Done&& done) {
    RoundMessages& all = messages_;
    if (all.in_node.flag_is_due()) [[unlikely]]
      moved |= all.in_node.raise_flag(exchange_);
    if (!all.in_node.none())
      if (const int error = all.in_node.advance_all(exchange_, 2 * all.by_mpi.window(), moved, done)) return error;
    if (background_in_node())
      if (const int error = advance_background_in_node(moved)) return error;
    if (all.by_mpi.expects_any()) {
      const bool others = !all.in_node.none() || background_in_node();
      if (const int error = all.by_mpi.probe(exchange_, others, moved)) return error;
    }
    return all.by_mpi.in_flight() > 0 ? all.by_mpi.test(exchange_, active, moved, done) : MPI_SUCCESS;
  }

  /// Ends one iteration of a waiting loop, and may wait a little. `moved`: bytes have moved in this iteration. Returns
  /// false, without waiting, if the call must not wait.
  bool pause_if_allowed(bool moved) {
    watch().turned(moved);
    if (!call().waits) return false;
    if (shares_node()) {
      peers()->turn(moved, mpi_in_flight());
    } else if constexpr (simulated) {
      pass_time(moved);
    } else if (++polls_ >= patience_) {
      sched_yield();
    }
    return true;
  }

  /// Completes whatever is under way behind the last round. Returns 0, `unfinished`, or an error.
  int finish_exchange() {
    if (const int error = raise_row_flag()) return error;
    if (!background_ || !background_->any()) return MPI_SUCCESS;
    const auto phase = in_wait_phase();
    return repeat([this](bool& moved) -> int {
      if (background_in_node())
        if (const int error = advance_background_in_node(moved)) return error;
      const bool waits = call().waits && !background_in_node();
      if (const int error = background_->by_mpi.finish_all(exchange_, waits)) return error;
      return background_in_node() ? unfinished : MPI_SUCCESS;
    });
  }

  /// Gives up the exchange. Afterwards nothing can arrive in the application's buffers. The team keeps its number for
  /// ever, and if anything was sent, the ranks of the node cannot exchange any more.
  void abandon() {
    call().team->keep_number();
    messages_.abandon();
    if (background_) background_->abandon();
    if (shares_node()) peers()->abandon(sent());
  }

 private:
  NodePeers* peers() const { return messages_.in_node.peers(); }

  bool background_in_node() const { return background_ && !background_->in_node.none(); }
  int advance_background_in_node(bool& moved) {
    return background_->in_node.advance_all(exchange_, 2 * background_->by_mpi.window(), moved,
                                            [](std::uint32_t) { return MPI_SUCCESS; });
  }
  bool mpi_in_flight() const {
    return messages_.by_mpi.in_flight() > 0 || messages_.by_mpi.expects_any() ||
           (background_ && background_->by_mpi.in_flight() > 0);
  }

  /// Repeats step(moved), which returns 0, an error, or `unfinished`, until it is over. Waits between steps; returns
  /// `unfinished` instead if the call must not wait.
  template <class Step>
  [[gnu::always_inline]] int repeat(Step&& step) {
    while (true) {
      bool moved = false;
      const int error = step(moved);
      if (error != unfinished) return error;
      if (shares_node())
        if (const int fault = peers()->broken()) return fault;
      if (!pause_if_allowed(moved)) return unfinished;
    }
  }

  [[gnu::noinline]] int raise_late_flag() {
    return repeat([this](bool&) { return messages_.in_node.raise_flag(exchange_) ? MPI_SUCCESS : unfinished; });
  }

  /// The part of exchange_rows() in which this rank waits for others.
  template <class Out, class In, class Copy>
  [[gnu::noinline]] int exchange_rows_waiting(RowProgress& progress, RowPeers& row_peers, Out&& out, In&& in,
                                              Copy&& copy) {
    return repeat([&](bool& moved) -> int {
      NodeMessages& rows = messages_.in_node;
      if (rows.try_rows(exchange_, progress, row_peers, out, in, copy) == 0) return MPI_SUCCESS;
      return progress.written ? rows.read_late(exchange_, progress, row_peers, in, moved) : unfinished;
    });
  }

  /// start() for a message of the rounds or of the background.
  template <bool is_send, class Memory>
  [[gnu::always_inline]] int start_one_of(RoundMessages& messages, std::uint32_t slot, Rank peer, MessageKind kind,
                                          const Memory& memory, Started& started, std::uint32_t together) {
    if (shares_node()) [[unlikely]]
      if (NodeLink* const link = messages.in_node.link(peer)) {
        started = messages.in_node.template start<is_send>(exchange_, slot, peer, kind, *link, memory);
        return MPI_SUCCESS;
      }
    return messages.by_mpi.template start<is_send>(exchange_, slot, memory, peer, kind, started, together);
  }

  static std::int64_t bytes_of(const Part& part) {
    MPI_Count size = 0;
    PMPI_Type_size_x(part.type, &size);
    return part.count * size;
  }

  CurrentExchange<Watching> exchange_;
  RoundMessages& messages_;
  RoundMessages* background_;
  int patience_ = 16, polls_ = 0;  ///< number of polls before the core is given to others, and so far
};

}  // namespace swapmeet
