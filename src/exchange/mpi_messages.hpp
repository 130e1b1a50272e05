/// The messages of a round that MPI transfers. Each is in a slot of the engine and has one request: slots 0..window-1
/// hold receives, slots window..2·window-1 sends. A message may have a companion, a short message that belongs to it:
///
///   header  precedes a message and says how long it is or which blocks it has. It is a message of its own: the
///           sender sends both at once, and the receiver receives the message after the header.
///   grant   is sent by the receiver after it has posted the receive of the message. The sender waits for it before it
///           sends the message; until then, the request in the slot of the message is the receive of the grant.
///
/// The request of a companion is in a third group behind those of the slots: the companion of a sent message is its
/// header, that of a received message its grant. The message is complete when both are.
///
/// The lists are kept from call to call. Every function takes the exchange (current_exchange.hpp) that is under way.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "exchange/failure.hpp"
#include "exchange/lost_data.hpp"
#include "mpi/faults.hpp"
#include "mpi/outcome.hpp"
#include "mpi/simulation.hpp"
#include "node/single_copy.hpp"
#include "observe/phases.hpp"
#include "schedule/schedule.hpp"
#include "team/tags.hpp"

namespace swapmeet {

class MpiMessages {
 public:
  /// Makes room for the messages of a window. `headers`: whether some messages have headers, or are probed for. `grants`:
  /// whether some wait for grants.
  void make_room(std::uint32_t window, bool headers, bool grants);

  /// Begins a round with at most `window` messages in flight in each direction. `granted`: its sends wait for grants.
  void enter(std::uint32_t window, bool granted) {
    window_ = window;
    granted_ = granted;
    in_flight_ = incomplete_ = 0;
    failures_ = 0;
  }
  std::uint32_t window() const { return window_; }

  /// Number of requests in flight.
  std::uint32_t in_flight() const { return in_flight_; }

  /// Starts the message in `slot`, after its grant if the round has grants. Sets `started` unless the message is empty.
  /// `together`: as in CurrentExchange::tag_here().
  template <bool is_send, class Exchange, class Memory>
  [[gnu::always_inline]] int start(Exchange& exchange, std::uint32_t slot, const Memory& memory, Rank peer,
                                   MessageKind kind, Started& started, std::uint32_t together) {
    const Part part = exchange.template part_of<is_send>(memory);
    if (part.count == 0) return MPI_SUCCESS;
    const int error = granted_ ? start_granted<is_send>(exchange, slot, part, memory.bytes(), peer, kind)
                               : exchange.template start<is_send>(&requests_[slot], part, peer, kind, together);
    if (error) return error;
    ++in_flight_;
    started = Started::underway;
    return MPI_SUCCESS;
  }

  /// Sends the header of the message in `slot`.
  template <class Exchange>
  int send_header(Exchange& exchange, std::uint32_t slot, const Part& part, Rank peer, std::uint32_t together) {
    const int error = exchange.template start<true>(&companion(slot), part, peer, MessageKind::head, together);
    if (!error) ++in_flight_, ++incomplete_;
    return error;
  }

  /// await_header() records that the next start() receives a header, header_arrived() that it has arrived.
  void await_header() { ++incomplete_; }
  void header_arrived() { --incomplete_; }

  /// Sends one message and receives another, and waits until both are complete.
  template <class Exchange>
  [[gnu::noinline]] int swap(Exchange& exchange, Part out, Rank to, Part in, Rank from) {
    window_ = 1;
    {
      const auto phase = exchange.watch().during(CallPhase::transfer);
      if (const int error = exchange.template start<false>(&requests_[0], in, from, MessageKind::last)) return error;
      if (const int error = exchange.template start<true>(&requests_[1], out, to, MessageKind::last)) return error;
    }
    const auto phase = exchange.watch().during(CallPhase::wait);
    return finish_all(exchange, true);
  }

  /// Whether finish_all() is possible: no message in flight has a companion, or has to be received after its header.
  bool have_one_request_each() const { return incomplete_ == 0 && !granted_; }

  /// Completes all requests in flight, and waits for them if `waits`. Returns 0, `unfinished`, or an error.
  template <class Exchange>
  int finish_all(Exchange& exchange, bool waits) {
    const std::span<MPI_Request> all(requests_.data(), 2 * window_);
    const int error = exchange.finish(all, window_, statuses_.data(), waits);
    if (error) return error;
    exchange.watch().received(std::span<const MPI_Request>(all.first(window_)), statuses_.data());
    exchange.watch().done(std::span<const MPI_Request>(all.subspan(window_)));
    in_flight_ = 0;
    return MPI_SUCCESS;
  }

  /// Tests the requests in flight. Calls done(slot) for each message that is complete and each received header. Sets
  /// `moved` if a request is complete. `active`: number of messages of the round in flight, by MPI or otherwise.
  template <class Exchange, class Done>
  int test(Exchange& exchange, std::uint32_t active, bool& moved, Done&& done) {
    const std::span<MPI_Request> all(requests_.data(), (has_headers_ || granted_ ? 3 : 2) * window_);
    while (in_flight_ > 0) {
      int index = MPI_UNDEFINED;
      // Simulated polls would only cost time.
      const bool alone = simulated && exchange.call().waits && !moved && in_flight_ >= active;
      if (alone) settle();
      MPI_Status status;
      int error = alone ? PMPI_Waitany(static_cast<int>(all.size()), all.data(), &index, &status)
                        : test_any(all, index, &status, exchange.team());
      if (error) {
        const bool over = index != MPI_UNDEFINED && requests_[static_cast<std::size_t>(index)] == MPI_REQUEST_NULL;
        if (!over && ++failures_ >= most_attempts) return error;
        if (!over) continue;  // a second attempt often succeeds after an error
        if (is_fault(error)) return error;
        exchange.message_failed(error);
      }
      if (index == MPI_UNDEFINED) return MPI_SUCCESS;
      moved = true;
      --in_flight_;
      if ((error = request_over(exchange, static_cast<std::uint32_t>(index), error, status, done))) return error;
      if (simulated) return MPI_SUCCESS;
    }
    return MPI_SUCCESS;
  }

  /// Expects a message whose length only its sender knows. A receive needs memory of the right size, so this rank probes
  /// for the message, allocates memory when it has arrived, and receives it (MPI_Improbe, MPI_Imrecv).
  void expect(std::uint32_t slot, Rank peer, int tag) { expected_.push_back({slot, peer, tag}); }
  bool expects_any() const { return !expected_.empty(); }

  /// Probes for all expected messages, and starts to receive those that have arrived. Sets `moved` if there are any.
  /// `others`: whether anything else may move meanwhile.
  template <class Exchange>
  int probe(Exchange& exchange, bool others, bool& moved) {
    constexpr std::uint32_t looks_between = 64;  // between looks for dead ranks, and for an exchange given up by others
                                                 // because of one
    if (survives_faults) [[unlikely]]
      if (const int fault = exchange.team().fault(++looks_ % looks_between == 0)) return fault;
    for (std::size_t i = 0; i < expected_.size();) {
      const Expected wanted = expected_[i];
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      int flag = 0;
      const auto once = [&]() -> int {
        const Team& all = exchange.team();
        if (!simulated || !exchange.call().waits || others)
          return PMPI_Improbe(all.job_rank(wanted.peer), wanted.tag, all.comm(), &flag, &message, &status);
        settle(), flag = 1;  // probing takes no simulated time, so time would not pass
        return PMPI_Mprobe(all.job_rank(wanted.peer), wanted.tag, all.comm(), &message, &status);
      };
      if (const int error = again(once)) return error;
      if (!flag) {
        ++i;
        continue;
      }
      MPI_Count bytes = 0;
      PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
      const Piece room = exchange.room_for(wanted.slot, static_cast<std::size_t>(bytes));
      const auto kept = static_cast<std::int64_t>(room.bytes);
      const Part part =
          kept == bytes ? Part{room.address, bytes, MPI_BYTE} : exchange.lost_data().dropped(bytes, room.address, kept);
      MPI_Request* const request = &requests_[wanted.slot];
      exchange.watch().begins(request, Direction::receive, wanted.peer, part, static_cast<int>(MessageKind::passed_on));
      if (const int error = again(imrecv, part, &message, request)) return error;
      ++in_flight_;
      moved = true;
      expected_.erase(expected_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return MPI_SUCCESS;
  }

  /// Gives up all messages after an error.
  void abandon();

 private:
  /// A message that is sent after its receiver has granted it.
  struct UngrantedSend {
    Part part;
    std::int64_t bytes;
    Rank peer;
    MessageKind kind;
    bool waits = false;
  };

  /// A message that will be probed for.
  struct Expected {
    std::uint32_t slot;
    Rank peer;
    int tag;
  };

  /// The request of the companion of the message in `slot`.
  MPI_Request& companion(std::uint32_t slot) { return requests_[slot + (granted_ ? 2 : 1) * window_]; }
  bool may_have_companion(std::uint32_t slot) const { return granted_ == (slot < window_); }

  /// For a receive: posts it and sends its grant. For a send: posts the receive of its grant.
  template <bool is_send, class Exchange>
  [[gnu::noinline]] int start_granted(Exchange& exchange, std::uint32_t slot, const Part& part, std::int64_t bytes,
                                      Rank peer, MessageKind kind) {
    const Part nothing{nullptr, 0, MPI_BYTE};
    if constexpr (is_send) {
      ungranted_[slot - window_] = {part, bytes, peer, kind, true};
      return exchange.template start<false>(&requests_[slot], nothing, peer, MessageKind::grant);
    }
    if (const int error = exchange.template start<false>(&requests_[slot], part, peer, kind)) return error;
    if (const int error = exchange.template start<true>(&companion(slot), nothing, peer, MessageKind::grant))
      return error;
    ++in_flight_, ++incomplete_;
    return MPI_SUCCESS;
  }

  /// Handles the end of the request `index`, with `error`.
  template <class Exchange, class Done>
  int request_over(Exchange& exchange, std::uint32_t index, int error, MPI_Status& status, Done&& done) {
    const std::span<const MPI_Request> one(&requests_[index], 1);
    if (index < window_ && !error && LostData::is_substitute(status)) [[unlikely]]
      exchange.received_wrong(MPI_ERR_TRUNCATE);
    index < window_ ? exchange.watch().received(one, &status) : exchange.watch().done(one);
    if (index >= 2 * window_) {
      --incomplete_;
      const std::uint32_t slot = index - (granted_ ? 2 : 1) * window_;
      return requests_[slot] == MPI_REQUEST_NULL ? done(slot) : MPI_SUCCESS;
    }
    if (granted_ && index >= window_)
      if (UngrantedSend& send = ungranted_[index - window_]; std::exchange(send.waits, false)) {
        ++in_flight_;
        // A substitute is made only now: it is valid until the next one is made.
        const bool lost = exchange.sends_lost_data();
        return exchange.template start<true>(
            &requests_[index], lost ? exchange.lost_data().sent(send.bytes) : send.part, send.peer, send.kind);
      }
    const bool waits = incomplete_ > 0 && may_have_companion(index) && companion(index) != MPI_REQUEST_NULL;
    return waits ? MPI_SUCCESS : done(index);
  }

  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<UngrantedSend> ungranted_;  ///< by slot of the sends, from 0 on
  std::vector<Expected> expected_;
  std::uint32_t looks_ = 0;  ///< number of calls of probe()
  bool has_headers_ = false;
  bool granted_ = false;  ///< the sends of the round wait for grants
  std::uint32_t window_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint32_t incomplete_ = 0;  ///< number of companions in flight, and of headers whose messages are to be received
  int failures_ = 0;
};

}  // namespace swapmeet
