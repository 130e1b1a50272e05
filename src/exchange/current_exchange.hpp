/// The exchange that is under way on this rank, as all parts of its fabric see it: its ranks, number and errors, and
/// whether anything was sent. It also starts and completes single MPI messages, with the tags of the exchange.
#pragma once

#include <span>

#include "engine/engine.hpp"
#include "exchange/failure.hpp"
#include "exchange/invocation.hpp"
#include "exchange/lost_data.hpp"
#include "exchange/receive_buffers.hpp"
#include "mpi/outcome.hpp"
#include "observe/phases.hpp"
#include "team/tags.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// `Watching`: Watch, which reports the phases and messages of a call to its Observer; or Unwatched, which has the
/// same interface and does nothing (observe/phases.hpp).
template <class Watching>
class CurrentExchange {
 public:
  /// `buffers`: memory for messages whose size only their senders know, or nullptr. `passes_on`: received data may be
  /// sent on.
  CurrentExchange(Failure& failure, LostData& lost, ReceiveBuffers* buffers, bool passes_on)
      : failure_(failure), lost_(lost), buffers_(buffers), passes_on_(passes_on) {}

  /// Begins the next exchange. `failure`: call().failure from now on, which this rank may find later than its caller.
  /// `in_place`: the block from a rank replaces the block for it; requires that all ranks are on this node.
  [[gnu::always_inline]] void bind(const Invocation& call, int failure, Watching watch, bool in_place) {
    call_ = call;
    call_.failure = failure;
    watch_ = watch;
    sent_ = false;
    in_place_ = in_place;
  }

  const Invocation& call() const { return call_; }
  const Watching& watch() const { return watch_; }
  const Team& team() const { return *call_.team; }
  bool in_place() const { return in_place_; }
  LostData& lost_data() const { return lost_; }

  /// Whether this rank has sent anything in this exchange.
  bool sent() const { return sent_; }
  void has_sent() { sent_ = true; }

  /// Whether the data that this rank sends from now on are lost.
  bool sends_lost_data() const { return failure_.marks; }
  /// Records the error of a received message.
  void received_wrong(int error) { failure_.received_wrong(error, passes_on_); }
  /// Records the error of a message that is complete nonetheless.
  void message_failed(int error) { truncated(error) ? received_wrong(error) : failure_.fail(error); }

  /// Memory for the message in a slot, of which the size is now known. If memory is lacking, it holds only the block
  /// sizes of the message.
  Piece room_for(std::uint32_t slot, std::size_t bytes) {
    const Piece room = buffers_->take(slot, bytes);
    if (room.bytes < bytes) failure_.fail(MPI_ERR_NO_MEM);
    return room;
  }

  // --- messages by MPI -----------------------------------------------------------------------------------------------

  /// The memory of a message as MPI takes it. If the data are lost, a substitute is sent or received instead.
  template <bool is_send, class Memory>
  [[gnu::always_inline]] Part part_of(const Memory& memory) const {
    if (memory.lost()) [[unlikely]]
      return substitute<is_send>(memory);
    return memory.part();
  }

  /// The tag of a message for this rank. `together`: number of the message among those between the two ranks that
  /// are under way together.
  int tag_here(MessageKind kind, std::uint32_t together) const {
    return team().tag_here(team().tags().of(kind, call_.number, together));
  }

  /// Starts to send or receive one message. `together`: as in tag_here().
  template <bool is_send>
  [[gnu::always_inline]] int start(MPI_Request* request, const Part& part, Rank peer, MessageKind kind,
                                   std::uint32_t together = 0) {
    const Team& all = team();
    const int plain = all.tags().of(kind, call_.number, together);
    const int tag = is_send ? all.tag_to(peer, plain) : all.tag_here(plain);
    watch_.begins(request, is_send ? Direction::send : Direction::receive, peer, part, static_cast<int>(kind));
    const auto once = [](auto... arguments) __attribute__((always_inline)) {
      return is_send ? isend(arguments...) : irecv(arguments...);
    };
    const int error = again_unless([this](int why) { return refuses(why); }, once, part, all.job_rank(peer), tag,
                                   all.comm(), request);
    if constexpr (is_send)
      if (!error) sent_ = true;
    return error;
  }

  /// Sends one message and receives another by one call of MPI, and waits for both.
  [[gnu::always_inline]] int swap(const Part& out, Rank to, const Part& in, Rank from) {
    const auto phase = watch_.during(CallPhase::transfer);
    watch_.begins(&in, Direction::receive, from, in, static_cast<int>(MessageKind::last));
    watch_.begins(&out, Direction::send, to, out, static_cast<int>(MessageKind::last));
    MPI_Status status;
    const Team& all = team();
    const int plain = all.tags().of(MessageKind::last, call_.number);
    const int error = again_unless(
        [this](int why) { return truncated(why) || refuses(why); },
        [](auto... arguments) __attribute__((always_inline)) { return sendrecv(arguments...); }, out, all.job_rank(to),
        all.tag_to(to, plain), in, all.job_rank(from), all.tag_here(plain), all.comm(), &status);
    watch_.done(&in);
    watch_.done(&out);
    if (error) [[unlikely]] {
      if (!truncated(error)) return error;
      received_wrong(error);
    } else if (LostData::is_substitute(status)) [[unlikely]] {
      received_wrong(MPI_ERR_TRUNCATE);
    }
    sent_ = true;
    return MPI_SUCCESS;
  }

  /// Completes messages, of which the first `receives` are received: see swapmeet::finish().
  int finish(std::span<MPI_Request> requests, std::size_t receives, MPI_Status* statuses, bool waits) {
    return swapmeet::finish(requests, receives, statuses, failure_, passes_on_, waits, team());
  }

 private:
  template <bool is_send, class Memory>
  [[gnu::noinline]] Part substitute(const Memory& memory) const {
    const std::int64_t bytes = memory.bytes();
    if (bytes == 0) return {nullptr, 0, MPI_BYTE};
    if (is_send) return lost_.sent(bytes);
    const Piece room = memory.room();
    return lost_.dropped(bytes, room.address, static_cast<std::int64_t>(room.bytes));
  }

  /// Whether MPI has refused the arguments of the first call that would send anything. Then nothing is exchanged.
  bool refuses(int error) const { return !sent_ && refused(error); }

  Invocation call_{};
  Failure& failure_;
  LostData& lost_;
  ReceiveBuffers* buffers_;
  bool passes_on_;
  bool sent_ = false, in_place_ = false;
  [[no_unique_address]] Watching watch_{};
};

}  // namespace swapmeet
