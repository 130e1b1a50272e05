/// The fabric of the engine. It transfers messages by MPI and, between ranks of one node, by shared memory or a single
/// copy.
#pragma once

#include <sched.h>

#include <algorithm>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "exchange/failure.hpp"
#include "exchange/lost_data.hpp"
#include "exchange/receive_buffers.hpp"
#include "team/tags.hpp"
#include "mpi/faults.hpp"
#include "mpi/outcome.hpp"
#include "exchange/invocation.hpp"
#include "node/node_peers.hpp"
#include "node/row_exchange.hpp"
#include "team/team.hpp"
#include "observe/phases.hpp"

namespace swapmeet {

/// The means of transfer for messages within the node.
struct Local {
  NodePeers* node_peers = nullptr;  ///< nullptr: messages within the node go by MPI as all others
  SingleCopy single_copy{};
  /// Whether small blocks are written into rows. Then in each exchange every rank of the node sends to every other, and
  /// the exchange has one round, window=all (algorithms/generate.cpp).
  bool by_rows = false;
};

/// The memory of a message.
struct Place {
  std::span<const Piece> pieces;
  std::size_t bytes;
};

/// The lists that messages in flight need, kept from call to call. They are indexed by slot as in the engine.
/// `requests` and `statuses` have a third group of `window` entries behind these, either for the header message of each
/// send or for the grant of each receive.
struct Slots {
  /// A message whose length only its sender knows; it is probed for.
  struct Probe {
    std::uint32_t slot;
    Rank peer;
    int tag;
  };

  /// A message that is sent after its receiver has granted it. Until then the request in its slot is the receive of the
  /// grant.
  struct UngrantedSend {
    Part part;
    Rank peer;
    Kind kind;
    bool waits = false;
  };

  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses;
  std::vector<UngrantedSend> ungranted;  ///< by slot of the sends, from 0 on
  std::vector<Transfer> transfers;       ///< by slot; no transfer where `link` is null
  std::vector<Piece> pieces;             ///< memory of the transfers, pieces_each for each of them
  std::size_t pieces_each = 1;
  /// Message number by slot; `none`: the slot is free. The list is empty unless make_room() was called with `heads`.
  std::vector<std::uint32_t> messages;
  std::vector<Probe> probes;

  static constexpr std::uint32_t none = UINT32_MAX;

  Piece* pieces_of(std::uint32_t slot) { return pieces.data() + slot * pieces_each; }

  /// Makes room for the messages of a window. `local`: some stay within the node, and each consists of at most
  /// `most_pieces` pieces. `heads`: some are preceded by a header message, or are probed for. `grants`: sends wait
  /// until they are granted.
  void make_room(std::uint32_t window, bool local, bool heads, std::size_t most_pieces = 1, bool grants = false);
};

/// `Watching`: Watch, which reports the phases and messages of a call to its Observer; or Unwatched, which has the
/// same interface and does nothing (observe/phases.hpp).
template <class Watching>
class Links {
 public:
  /// `slots`: for the messages of the rounds. `background`: for messages that are under way during the whole exchange,
  /// or nullptr. `buffers`: memory for messages of unknown size, or nullptr. `passes_on`: received data may be sent on.
  Links(Slots& slots, Slots* background, ReceiveBuffers* buffers, const Local& local, const Tags& tags,
        Failure& failure, LostData& lost, bool passes_on)
      : slots_(slots), background_(background), buffers_(buffers), local_(local), tags_(tags), failure_(failure),
        lost_(lost), passes_on_(passes_on) {}

  /// Prepares for the next exchange. `call` must stay in place until it is complete. `block_bytes`: size of every
  /// block, if all ranks know it; 0: not known. `in_place`: the block from a rank replaces the block for it; requires
  /// that all ranks are on this node.
  [[gnu::always_inline]] void bind(const Invocation& call, Watching watch, std::size_t block_bytes = 0,
                                   bool in_place = false) {
    call_ = &call;
    watch_ = watch;
    sent_ = false;
    unexpected_.link = nullptr;
    in_place_ = in_place;
    if (in_place) local_.node_peers->begin_in_place();
    if (local_.by_rows) begin_row(block_bytes);
  }

  const Invocation& call() const { return *call_; }
  const Watching& watch() const { return watch_; }

  /// Whether this rank has joined shared memory with other ranks of its node, and this exchange uses it.
  bool shares_node() const { return local_.node_peers != nullptr; }

  /// Whether this rank has sent anything in this exchange.
  bool sent() const { return sent_; }
  bool local(Rank peer) const { return local_.node_peers && local_.node_peers->link(peer); }

  LostData& lost_data() const { return lost_; }

  // --- for payloads --------------------------------------------------------------------------------------------------

  /// Starts message number `message` with `peer`. `Wire` describes its memory: part() for MPI, and pieces(list) for
  /// transfers within the node, which fills the list and returns the part of it in use. `together`: number of the
  /// message among the messages between the two ranks that are under way together, for its tag.
  template <bool is_send, class Wire>
  [[gnu::always_inline]] int start(std::uint32_t slot, std::uint32_t message, Rank peer, Kind kind, const Wire& wire,
                                   Started& started, std::uint32_t together = 0) {
    if (local_.node_peers) [[unlikely]]
      if (NodeLink* const link = local_.node_peers->link(peer)) {
        start_transfer<is_send>(slots_, slot, message, peer, kind, *link, wire, started);
        return MPI_SUCCESS;
      }
    const Part part = wire.part();
    if (part.count == 0) return MPI_SUCCESS;
    const int error = granted_ ? start_granted<is_send>(slot, part, peer, kind)
                               : start_request<is_send>(&slots_.requests[slot], part, peer, kind, together);
    if (error) return error;
    take(slot, message);
    ++requests_;
    started = Started::underway;
    return MPI_SUCCESS;
  }

  /// Sends one message and receives another, by MPI. Waits until both are complete; requires call().waits.
  [[gnu::always_inline]] int swap(const Part& out, Rank to, const Part& in, Rank from) {
    Part sent = out;
    if (failure_.marks) [[unlikely]]
      sent = lost_.sent(bytes_of(out));
    const bool polls = host_is_mpich || watch_.follows() || survives_faults;  // instead of MPI_Sendrecv
    return polls && !simulated ? swap_by_polls(sent, to, in, from) : swap_at_once(sent, to, in, from);
  }

  /// Exchanges all messages of a step by rows of shared memory, without the engine. Requires blocks of at most
  /// row_block_bytes(). `sends` and `receives` are the links of the messages; out(i) and in(i) return the memory of the
  /// i-th. `late` has room for one number per received message. Calls copy() while other ranks write their rows.
  template <class Out, class In, class Copy>
  int exchange_rows(std::span<NodeLink* const> sends, Out&& out, std::span<NodeLink* const> receives, In&& in,
                    std::span<std::uint32_t> late, Copy&& copy) {
    return exchange_by_rows(RowRank{*this, *local_.node_peers}, sends, out, receives, in, late, [&] {
      local_.node_peers->publish_core();
      copy();
    });
  }

  /// Nonblocking form of exchange_rows(): see advance_by_rows().
  template <class Out, class In, class Copy>
  int advance_rows(RowProgress& progress, std::span<NodeLink* const> sends, Out&& out,
                   std::span<NodeLink* const> receives, In&& in, std::span<std::uint32_t> late, Copy&& copy) {
    bool moved = false;
    const int error = advance_by_rows(
        progress, RowRank{*this, *local_.node_peers}, sends, out, receives, in, late,
        [&] {
          local_.node_peers->publish_core();
          local_.node_peers->moved();
          copy();
        },
        moved);
    if (moved) local_.node_peers->moved();
    const int why = error == unfinished ? local_.node_peers->broken() : MPI_SUCCESS;
    return why ? why : error;
  }
  std::size_t row_block_bytes() const { return row_block_bytes_; }

  /// Sends the header message of the message in `slot`, by MPI. The message in `slot` is complete when both have been
  /// sent. `together`: as in start().
  template <class Wire>
  int send_head(std::uint32_t slot, Rank peer, const Wire& wire, std::uint32_t together) {
    const int error = start_request<true>(&slots_.requests[slot + window_], wire.part(), peer, Kind::head, together);
    if (!error) ++requests_, ++heads_;
    return error;
  }

  /// Assigns message number `message` to `slot`, of which only the header message is under way.
  void claim(std::uint32_t slot, std::uint32_t message) { take(slot, message); }

  /// Records that the next start() receives a header message: the message itself cannot be received before it has
  /// arrived. head_arrived() records the arrival.
  void await_head() { ++heads_; }
  void head_arrived() { --heads_; }

  /// Receives a message whose size only its sender knows, into memory of the receive buffers. `together`: as in
  /// start().
  void receive_any(std::uint32_t slot, std::uint32_t message, Rank peer, Kind kind, std::uint32_t together) {
    take(slot, message);
    if (!local(peer))
      return slots_.probes.push_back({slot, peer, team().tag_here(tags_.of(kind, call_->number, together))});
    watch_.begins(&slots_.requests[slot], Direction::receive, peer, std::size_t{0}, static_cast<int>(kind));
    begin_transfer(slots_, slot,
                   Transfer::receive(*local_.node_peers->link(peer), {}, Transfer::any_size, call_->number));
  }

  /// Starts a message that may be under way until the end of the exchange. All receives must be started before the
  /// sends.
  template <bool is_send, class Wire>
  int start_background(Rank peer, const Wire& wire) {
    const auto slot = static_cast<std::uint32_t>(background_used_);
    if (local(peer)) {
      Started started = Started::nothing;
      start_transfer<is_send>(*background_, slot, slot, peer, Kind::direct, *local_.node_peers->link(peer), wire,
                              started);
      if (started == Started::underway) ++background_used_;
      return MPI_SUCCESS;
    }
    ++background_used_;
    ++background_requests_;
    if (!is_send) background_receives_ = background_used_;
    return start_request<is_send>(&background_->requests[slot], wire.part(), peer, Kind::direct, 0);
  }

  // --- for the engine ------------------------------------------------------------------------------------------------

  /// Begins `round`, which has this number in the schedule or flow.
  void enter(std::size_t number, const Round& round) {
    watch_.step(number);
    window_ = round.in_flight();
    granted_ = round.posting == Posting::granted;
    patience_ = round.completion == Completion::test ? 1024 : 16;
    if (local_.node_peers) local_.node_peers->publish_core();
    requests_ = transfers_ = heads_ = 0;
    polls_ = failures_ = 0;
  }

  /// Called when all sends of the round have been started.
  void posted() {
    if (!local_.by_rows) return;
    local_.node_peers->rows().posted();
    raise();
  }

  /// Scopes: until the returned object is destroyed, the time of this rank counts as that of the phase.
  [[nodiscard]] auto in_transfer_phase() const { return watch_.during(CallPhase::transfer); }
  [[nodiscard]] auto in_wait_phase() const { return watch_.during(CallPhase::wait); }

  std::uint32_t message(std::uint32_t slot) const { return slots_.messages[slot]; }
  bool taken(std::uint32_t slot) const { return slots_.messages[slot] != Slots::none; }
  std::uint32_t free(std::uint32_t slot) { return std::exchange(slots_.messages[slot], Slots::none); }

  /// Whether all messages in flight are MPI requests that can be completed by one wait for all of them.
  bool waits_for_all() const {
    return !watch_.follows() && transfers_ == 0 && heads_ == 0 && !granted_ && slots_.probes.empty() &&
           !background_transfers_ && !row_is_due();
  }

  /// Completes all requests in flight. Requires waits_for_all(), or only the two requests of swap(). Returns 0,
  /// `unfinished`, or an error.
  int finish_all() {
    const std::span<MPI_Request> all(slots_.requests.data(), 2 * window_);
    const int error = finish(all, window_, slots_.statuses.data(), failure_, passes_on_, call_->waits, team());
    if (error) return error;
    slots_.messages.empty() ? watch_.done(std::span<const MPI_Request>(all.first(window_)))
                            : watch_.received(std::span<const MPI_Request>(all.first(window_)), slots_.statuses.data());
    watch_.done(std::span<const MPI_Request>(all.subspan(window_)));
    requests_ = 0;
    return MPI_SUCCESS;
  }

  /// Polls all messages of the round once, and advances background messages within the node. `active`: number of
  /// messages of the round in flight. Calls done(slot) for each slot whose header or message is complete. Sets `moved`
  /// if bytes have moved.
  template <class Done>
  int poll(std::uint32_t active, bool& moved, Done&& done) {
    if (row_is_due()) [[unlikely]]
      moved |= raise();
    if (transfers_ > 0) {
      for (std::uint32_t slot = 0; slot < 2 * window_; ++slot) {
        if (!slots_.transfers[slot].link) continue;
        moved |= advance(slots_, slot);
        if (slots_.transfers[slot].link) continue;
        if (const int error = done(slot)) return error;
      }
      if (const int error = local_.node_peers->broken()) return error;
    }
    if (background_transfers_ > 0) advance_background(moved);
    if (!slots_.probes.empty())
      if (const int error = probe(moved)) return error;
    return requests_ > 0 ? test(active, moved, done) : MPI_SUCCESS;
  }

  /// Ends one iteration of a waiting loop, and may wait a little. `moved`: bytes have moved in this iteration. Returns
  /// false, without waiting, if the call must not wait.
  bool turn(bool moved) {
    watch_.turned(moved);
    if (!call_->waits) return false;
    if (local_.node_peers) local_.node_peers->turn(moved, waits_for_mpi());
    else if constexpr (simulated) pass_time(moved);
    else if (++polls_ >= patience_) sched_yield();
    return true;
  }

  /// Raises the flag of the row, and completes the messages of start_background(). Returns 0, `unfinished`, or an
  /// error.
  int finish_background() {
    if (const int error = finish_row()) return error;
    if (background_used_ == 0) return MPI_SUCCESS;
    const auto phase = watch_.during(CallPhase::wait);
    const std::span<MPI_Request> all(background_->requests.data(), background_used_);
    while (background_transfers_ > 0) {
      bool moved = false;
      advance_background(moved);
      if (background_transfers_ == 0) break;
      if (const int error = local_.node_peers->broken()) return error;
      if (const int error =
              finish(all, background_receives_, background_->statuses.data(), failure_, passes_on_, false, team());
          error && error != unfinished)
        return error;
      if (!turn(moved)) return unfinished;
    }
    int error = MPI_SUCCESS;
    do
      error =
          finish(all, background_receives_, background_->statuses.data(), failure_, passes_on_, call_->waits, team());
    while (error == unfinished && turn(false));
    if (error) return error;
    watch_.done(std::span<const MPI_Request>(all));
    background_used_ = background_receives_ = background_requests_ = 0;
    return MPI_SUCCESS;
  }

  /// Raises the flag of this rank's row. Other ranks wait for it, even if this rank waits for nothing.
  int finish_row() {
    while (row_is_due() && !raise()) {
      if (const int error = local_.node_peers->broken()) return error;
      if (!turn(false)) return unfinished;
    }
    return MPI_SUCCESS;
  }

  /// Gives up the exchange. Nothing may arrive in the application's buffers any more. The team keeps its number for
  /// ever, and if anything was sent, the ranks of the node cannot exchange any more.
  void abandon() {
    if (call_->peers->team) call_->peers->team->lose();
    // The request in the slot of an ungranted send is the receive of its grant.
    for (std::size_t i = 0; i < slots_.ungranted.size(); ++i)
      if (std::exchange(slots_.ungranted[i].waits, false)) swapmeet::abandon({&slots_.requests[window_ + i], 1}, {});
    swapmeet::abandon(std::span(slots_.requests).first(window_), std::span(slots_.requests).subspan(window_));
    std::ranges::fill(slots_.messages, Slots::none);
    slots_.probes.clear();
    for (Transfer& transfer : slots_.transfers) transfer.link = nullptr;
    if (background_) {
      const auto all = std::span(background_->requests).first(background_used_);
      swapmeet::abandon(all.first(background_receives_), all.subspan(background_receives_));
    }
    if (local_.node_peers) local_.node_peers->abandon(sent_);
  }

 private:
  const Team& team() const { return *call_->peers->team; }

  void take(std::uint32_t slot, std::uint32_t message) {
    if (!slots_.messages.empty()) slots_.messages[slot] = message;
  }

  /// Whether MPI has refused the arguments of the first call that would send anything. Then nothing is exchanged.
  bool refuses(int error) const { return !sent_ && refused(error); }

  template <bool is_send>
  [[gnu::always_inline]] int start_request(MPI_Request* request, const Part& part, Rank peer, Kind kind,
                                           std::uint32_t together) {
    const Team& all = team();
    const int plain = tags_.of(kind, call_->number, together);
    const int tag = is_send ? all.tag_to(peer, plain) : all.tag_here(plain);
    watch_.begins(request, is_send ? Direction::send : Direction::receive, peer, part, static_cast<int>(kind));
    const auto once = [](auto... arguments) __attribute__((always_inline)) {
      return is_send ? isend(arguments...) : irecv(arguments...);
    };
    const int error =
        again_unless([this](int why) { return refuses(why); }, once, part, all.address(peer), tag, all.comm(), request);
    if constexpr (is_send)
      if (!error) sent_ = true;
    return error;
  }

  /// For a receive: posts it and sends its grant. For a send: posts the receive of its grant; test() sends the message
  /// when that has arrived.
  template <bool is_send>
  [[gnu::noinline]] int start_granted(std::uint32_t slot, const Part& part, Rank peer, Kind kind) {
    const Part nothing{nullptr, 0, MPI_BYTE};
    if constexpr (is_send) {
      slots_.ungranted[slot - window_] = {part, peer, kind, true};
      return start_request<false>(&slots_.requests[slot], nothing, peer, Kind::grant, 0);
    }
    if (const int error = start_request<false>(&slots_.requests[slot], part, peer, kind, 0)) return error;
    if (const int error = start_request<true>(&slots_.requests[slot + 2 * window_], nothing, peer, Kind::grant, 0))
      return error;
    ++requests_, ++heads_;
    return MPI_SUCCESS;
  }

  /// Sends the message that waits in `slot` for its grant.
  int send_granted(std::uint32_t slot) {
    Slots::UngrantedSend& message = slots_.ungranted[slot - window_];
    message.waits = false;
    ++requests_;
    return start_request<true>(&slots_.requests[slot], message.part, message.peer, message.kind, 0);
  }

  [[gnu::always_inline]] int swap_at_once(const Part& out, Rank to, const Part& in, Rank from) {
    const auto phase = in_transfer_phase();
    watch_.begins(&in, Direction::receive, from, in, static_cast<int>(Kind::last));
    watch_.begins(&out, Direction::send, to, out, static_cast<int>(Kind::last));
    MPI_Status status;
    const Team& all = team();
    const int plain = tags_.of(Kind::last, call_->number);
    const int error = again_unless(
        [this](int why) { return truncated(why) || refuses(why); },
        [](auto... arguments) __attribute__((always_inline)) { return sendrecv(arguments...); }, out, all.address(to),
        all.tag_to(to, plain), in, all.address(from), all.tag_here(plain), all.comm(), &status);
    watch_.done(&in);
    watch_.done(&out);
    if (error) [[unlikely]] {
      if (!truncated(error)) return error;
      failure_.received_wrong(error, passes_on_);
    } else if (LostData::is_substitute(status)) [[unlikely]] {
      failure_.received_wrong(MPI_ERR_TRUNCATE, passes_on_);
    }
    sent_ = true;
    return MPI_SUCCESS;
  }

  /// Variant of swap() for MPICH, whose MPI_Sendrecv takes 0.7 us longer. It is also used if the end of each message
  /// must be reported at once (Watch::follows()), or if the MPI survives faults.
  [[gnu::noinline]] int swap_by_polls(Part out, Rank to, Part in, Rank from) {
    window_ = 1;
    {
      const auto phase = in_transfer_phase();
      if (const int error = start_request<false>(&slots_.requests[0], in, from, Kind::last, 0)) return error;
      if (const int error = start_request<true>(&slots_.requests[1], out, to, Kind::last, 0)) return error;
    }
    const auto phase = in_wait_phase();
    return watch_.follows() ? finish_each() : finish_all();
  }

  /// Variant of finish_all() that reports the end of each message as soon as it is complete.
  int finish_each() {
    requests_ = 2 * window_;
    heads_ = 0;
    failures_ = 0;
    while (requests_ > 0) {
      bool moved = false;
      if (const int error = test(requests_, moved, [](std::uint32_t) { return MPI_SUCCESS; })) return error;
      if (requests_ > 0) turn(moved);
    }
    return MPI_SUCCESS;
  }

  template <bool is_send, class Wire>
  void start_transfer(Slots& slots, std::uint32_t slot, std::uint32_t message, Rank peer, Kind kind, NodeLink& link,
                      const Wire& wire, Started& started) {
    const Place place = wire.pieces(slots.pieces_of(slot));
    if (place.bytes == 0) return;
    if (local_.by_rows && start_by_row<is_send>(slot, message, peer, kind, link, place, wire, started)) return;
    if (&slots == &slots_) take(slot, message);
    watch_.begins(&slots.requests[slot], is_send ? Direction::send : Direction::receive, peer, place.bytes,
                  static_cast<int>(kind));
    if (is_send && place.pieces.size() == 1 && !offers(place.bytes) && !wire.marked()) [[likely]]
      if (local_.node_peers->send_now(link, place.pieces[0], call_->number)) {
        watch_.done(&slots.requests[slot]);
        sent_ = true;
        started = Started::finished;
        return;
      }
    // In place, the receivers of two single copies would wait for each other.
    const SingleCopy single_copy = in_place_ ? SingleCopy{} : local_.single_copy;
    Transfer transfer = is_send ? Transfer::send(link, place.pieces, place.bytes, single_copy, call_->number)
                                : Transfer::receive(link, place.pieces, place.bytes, call_->number);
    transfer.in_place = !is_send && in_place_;
    transfer.failed = is_send && wire.marked();
    transfer.discards = !is_send && discards(place.pieces.front());
    begin_transfer(slots, slot, transfer);
    if constexpr (is_send) {
      sent_ = true;
      advance(slots, slot);
      started = slots.transfers[slot].link ? Started::underway : Started::finished;
      return;
    }
    started = Started::underway;
  }

  void begin_row(std::size_t block_bytes) {
    NodePeers& all = *local_.node_peers;
    // Blocks in a region are copied once, without rows.
    row_block_bytes_ = all.rows().block_bytes();
    if (all.has_regions()) row_block_bytes_ = std::min(row_block_bytes_, local_.single_copy.of_region_bytes - 1);
    all.rows().begin(call_->number, block_bytes <= row_block_bytes_ ? block_bytes : 0);
  }

  bool row_is_due() const { return local_.by_rows && !local_.node_peers->rows().raised(); }
  bool raise() {
    const bool raised = local_.node_peers->raise();
    sent_ |= raised;
    return raised;
  }

  /// Receives a block that does not have the size or the transport that this rank expects. At most one such receive is
  /// under way: meanwhile a call for any other link returns `unfinished`. Also returns `unfinished` if the block has
  /// not arrived and the call must not wait.
  [[gnu::noinline]] int receive_by_row(NodeLink& link, const Piece& block) {
    if (!unexpected_.link) {
      unexpected_block_ = block;
      unexpected_ = Transfer::by_rows(link, {&unexpected_block_, 1}, block.bytes, false, call_->number);
    }
    if (unexpected_.link != &link) return unfinished;
    while (true) {
      const bool moved = local_.node_peers->advance(unexpected_);
      if (unexpected_.done()) break;
      if (const int error = local_.node_peers->broken()) return error;
      if (!turn(moved)) return unfinished;
    }
    if (unexpected_.cut || unexpected_.failed) failure_.received_wrong(MPI_ERR_TRUNCATE, passes_on_);
    unexpected_.link = nullptr;
    return MPI_SUCCESS;
  }

  /// The interface of this rank to exchange_by_rows() and advance_by_rows().
  struct RowRank {
    Links& links;
    NodePeers& all;

    NodeRows& rows() const { return all.rows(); }
    void raise() const { links.raise(); }
    void waits_for(std::uint32_t member) const { all.waits_for(*all.member(member)); }
    int broken() const { return all.broken(); }
    void turn(bool moved) const { links.turn(moved); }
    int receive_by_row(NodeLink& link, const Piece& block) const { return links.receive_by_row(link, block); }
  };

  /// Starts a message by the row. Returns false if it goes through the channel instead.
  template <bool is_send, class Wire>
  bool start_by_row(std::uint32_t slot, std::uint32_t message, Rank peer, Kind kind, NodeLink& link, const Place& place,
                    const Wire& wire, Started& started) {
    NodeRows& rows = local_.node_peers->rows();
    const bool marked = is_send && wire.marked(), writes = is_send && !marked && rows.ready();
    if (is_send && !marked && place.bytes > row_block_bytes_) return rows.send_elsewhere(link.member), false;
    watch_.begins(&slots_.requests[slot], is_send ? Direction::send : Direction::receive, peer, place.bytes,
                  static_cast<int>(kind));
    if (marked) rows.fail(link.member);
    if (writes) rows.write(link.member, place.pieces.front());
    if (marked || writes) {
      watch_.done(&slots_.requests[slot]);
      link.left = NodeLink::all_left;
      started = Started::finished;
      return true;
    }
    if (is_send) rows.defer();
    Transfer transfer = Transfer::by_rows(link, place.pieces, place.bytes, is_send, call_->number);
    transfer.discards = !is_send && discards(place.pieces.front());
    transfer.in_place = !is_send && in_place_;
    take(slot, message);
    begin_transfer(slots_, slot, transfer);
    started = Started::underway;
    return true;
  }

  /// Whether the memory is missing, so that the message is discarded when it is received.
  static bool discards(const Piece& piece) { return !piece.address && !piece.map; }

  /// Whether a message of this size is announced for a single copy.
  bool offers(std::size_t bytes) const {
    return !in_place_ && (bytes >= local_.single_copy.by_kernel_bytes || bytes >= local_.single_copy.of_region_bytes);
  }

  void begin_transfer(Slots& slots, std::uint32_t slot, const Transfer& transfer) {
    slots.transfers[slot] = transfer;
    ++(&slots == &slots_ ? transfers_ : background_transfers_);
  }

  /// Continues a transfer. Returns whether anything has moved. Frees the slot of a completed transfer.
  bool advance(Slots& slots, std::uint32_t slot) {
    Transfer& transfer = slots.transfers[slot];
    bool moved = local_.node_peers->advance(transfer);
    if (transfer.wants_memory()) {
      give_memory(slots, slot, transfer);
      moved |= local_.node_peers->advance(transfer);
    }
    if (!transfer.done()) return moved;
    if (transfer.cut || (transfer.failed && !transfer.outgoing)) failure_.received_wrong(MPI_ERR_TRUNCATE, passes_on_);
    watch_.done(&slots.requests[slot], static_cast<std::int64_t>(transfer.bytes));
    transfer.link = nullptr;
    --(&slots == &slots_ ? transfers_ : background_transfers_);
    return true;
  }

  void give_memory(Slots& slots, std::uint32_t slot, Transfer& transfer) {
    Piece& room = *slots.pieces_of(slot);
    room = buffers_->take(slots.messages[slot], slot, transfer.bytes);
    // If memory is lacking, `room` holds only the block sizes of the message, and the receive is shortened to them.
    if (room.bytes < transfer.bytes) {
      failure_.fail(MPI_ERR_NO_MEM);
      transfer.bytes = room.bytes;
    }
    transfer.pieces = {&room, 1};
  }

  void advance_background(bool& moved) {
    for (std::uint32_t slot = 0; slot < background_used_; ++slot)
      if (background_->transfers[slot].link) moved |= advance(*background_, slot);
  }

  /// Probes for messages of unknown size, and starts to receive those that have arrived.
  int probe(bool& moved) {
    constexpr std::uint32_t looks_between = 64;  // between looks for dead ranks, and for an exchange given up by others
                                                 // because of one
    if (survives_faults) [[unlikely]]
      if (const int fault = team().fault(++looks_ % looks_between == 0)) return fault;
    for (std::size_t i = 0; i < slots_.probes.size();) {
      const Slots::Probe look = slots_.probes[i];
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      int flag = 0;
      const auto once = [&]() -> int {
        if (!simulated || !call_->waits || transfers_ + background_transfers_ > 0)
          return PMPI_Improbe(team().address(look.peer), look.tag, team().comm(), &flag, &message, &status);
        settle(), flag = 1;  // probing takes no simulated time, so time would not pass
        return PMPI_Mprobe(team().address(look.peer), look.tag, team().comm(), &message, &status);
      };
      if (const int error = again(once)) return error;
      if (!flag) {
        ++i;
        continue;
      }
      MPI_Count bytes = 0;
      PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
      const Piece room = buffers_->take(slots_.messages[look.slot], look.slot, static_cast<std::size_t>(bytes));
      if (room.bytes < static_cast<std::size_t>(bytes)) failure_.fail(MPI_ERR_NO_MEM);
      const auto wanted = static_cast<std::int64_t>(room.bytes);
      const Part part =
          wanted == bytes ? Part{room.address, bytes, MPI_BYTE} : lost_.dropped(bytes, room.address, wanted);
      watch_.begins(&slots_.requests[look.slot], Direction::receive, look.peer, part,
                    static_cast<int>(Kind::passed_on));
      if (const int error = again(imrecv, part, &message, &slots_.requests[look.slot])) return error;
      ++requests_;
      moved = true;
      slots_.probes.erase(slots_.probes.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return MPI_SUCCESS;
  }

  template <class Done>
  int test(std::uint32_t active, bool& moved, Done&& done) {
    const std::span<MPI_Request> all(slots_.requests.data(), (slots_.messages.empty() && !granted_ ? 2 : 3) * window_);
    while (requests_ > 0) {
      int index = MPI_UNDEFINED;
      const bool alone = simulated && call_->waits && !moved && requests_ >= active;  // simulated polls would only cost
                                                                                      // time
      if (alone) settle();
      MPI_Status status;
      int error = alone ? PMPI_Waitany(static_cast<int>(all.size()), all.data(), &index, &status)
                        : test_any(all, index, &status, team());
      if (error) {
        const bool over =
            index != MPI_UNDEFINED && slots_.requests[static_cast<std::size_t>(index)] == MPI_REQUEST_NULL;
        if (!over && ++failures_ >= most_attempts) return error;
        if (!over) continue;  // a second attempt often succeeds after an error
        if (is_fault(error)) return error;
        truncated(error) ? failure_.received_wrong(error, passes_on_) : failure_.fail(error);
      }
      if (index == MPI_UNDEFINED) return MPI_SUCCESS;
      const auto slot = static_cast<std::uint32_t>(index);
      MPI_Request* const over = &slots_.requests[slot];
      const std::span<const MPI_Request> one(over, 1);
      if (slot < window_ && !error && LostData::is_substitute(status)) [[unlikely]]
        failure_.received_wrong(MPI_ERR_TRUNCATE, passes_on_);
      slot < window_ ? watch_.received(one, &status) : watch_.done(one);
      moved = true;
      --requests_;
      if (slot >= 2 * window_) {
        --heads_;
        const std::uint32_t behind = slot - (granted_ ? 2 : 1) * window_;
        if (slots_.requests[behind] == MPI_REQUEST_NULL && !transfer_in(behind))
          if ((error = done(behind))) return error;
        continue;
      }
      if (granted_ && slot >= window_ && slots_.ungranted[slot - window_].waits) {
        if ((error = send_granted(slot))) return error;
        continue;
      }
      if (heads_ > 0 && waits_for_head(slot)) continue;
      if ((error = done(slot))) return error;
      if (simulated) return MPI_SUCCESS;
    }
    return MPI_SUCCESS;
  }

  /// Whether the header message or the grant that belongs to the message in `slot` is still under way.
  bool waits_for_head(std::uint32_t slot) const {
    const bool has_head = granted_ ? slot < window_ : slot >= window_;
    return has_head && slots_.requests[slot + (granted_ ? 2 : 1) * window_] != MPI_REQUEST_NULL;
  }

  bool waits_for_mpi() const { return requests_ > 0 || !slots_.probes.empty() || background_requests_ > 0; }

  bool transfer_in(std::uint32_t slot) const { return !slots_.transfers.empty() && slots_.transfers[slot].link; }

  static std::int64_t bytes_of(const Part& part) {
    MPI_Count size = 0;
    PMPI_Type_size_x(part.type, &size);
    return part.count * size;
  }

  Slots& slots_;
  Slots* background_;
  ReceiveBuffers* buffers_;
  const Local& local_;
  const Tags& tags_;
  const Invocation* call_ = nullptr;
  Failure& failure_;
  LostData& lost_;
  bool passes_on_;
  bool sent_ = false, in_place_ = false;
  bool granted_ = false;  ///< the sends of the round wait until their receivers have granted them
  [[no_unique_address]] Watching watch_{};
  std::size_t row_block_bytes_ = 0;  ///< size of the largest block that this rank writes into its row
  Transfer unexpected_{};            ///< transfer of receive_by_row(); none if `link` is null
  Piece unexpected_block_{};
  std::uint32_t window_ = 0;
  std::uint32_t requests_ = 0, transfers_ = 0, heads_ = 0;  ///< in flight: MPI requests, transfers within the node,
                                                            ///< header messages or grants
  std::uint32_t background_used_ = 0, background_receives_ = 0, background_transfers_ = 0, background_requests_ = 0;
  int patience_ = 16, polls_ = 0;  ///< number of polls before the core is given to others
  int failures_ = 0;
  std::uint32_t looks_ = 0;  ///< number of probes for messages of unknown size
};

}  // namespace swapmeet
