/// The engine executes one exchange of one rank, round by round. It alone implements windows, completion rules and the
/// order of posting. Everything that executes a schedule or a flow runs this engine, with a fabric and a payload as
/// template parameters:
///
/// Fabric   moves messages: by MPI and within the node (exchange/fabric.hpp), or between simulated ranks in the verifier
///          (proofs/joint_execution.hpp).
/// Payload  defines the content: the rounds, the first part and possibly a further part of each message, the local
///          copies, and the action after a message has arrived or has left. Payload::hears says whether finished() is to
///          be called for each message; the payload then has a list for the number of the message in each slot,
///          messages(). Payload::has_parts says whether a message may have a further part.
///
/// Each message in flight occupies a slot: slots 0..window-1 are for receives, slots window..2·window-1 for sends. With
/// complete=all, the slots are filled again when all of them are free (a batch). With complete=any and complete=test,
/// each slot is filled again as soon as it is free.
///
/// advance() never allocates. It can be resumed: if the fabric does not wait, advance() returns `unfinished` when
/// nothing moves, and the next call continues at that point.
///
/// Errors: after a failure in the payload (no memory, a message of unexpected length) the exchange continues. The rank
/// marks the messages whose data it does not have, so that every rank that depends on them learns of the failure and
/// all ranks stay in step. The exchange then ends with the first such error. It is given up only when the fabric itself
/// fails.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// Returned in place of an error: the requested result is not available yet, and the caller must call again.
inline constexpr int unfinished = INT_MIN;

/// The state of a message after the attempt to start it.
enum class Started : std::uint8_t {
  nothing,   ///< the message is empty; both ends leave it out
  finished,  ///< the message is already complete
  underway,
};

/// The number of the message in a free slot.
inline constexpr std::uint32_t no_message = UINT32_MAX;

template <class Fabric, class Payload>
class Engine {
 public:
  /// Both arguments must outlive the engine. The fabric must have room for the widest window of the payload.
  Engine(Fabric& fabric, Payload& payload) : fabric_(fabric), payload_(payload) {}

  /// Prepares for the next exchange, from its first round on.
  void restart() {
    round_ = 0;
    begun_ = entered_ = gave_up_ = false;
  }

  /// Executes one round alone. Waits until it is complete or returns `unfinished`, as advance() does.
  int round(std::size_t index) {
    round_ = index;
    const int error = run(payload_.round(index));
    return error && error != unfinished ? give_up(error) : error;
  }

  /// Gives up the exchange because of an error of the fabric. Returns that error.
  int give_up(int error) {
    gave_up_ = true;
    fabric_.abandon();
    if constexpr (Payload::hears)
      for (std::uint32_t& message : payload_.messages()) message = no_message;
    return error;
  }
  bool gave_up() const { return gave_up_; }

  /// Returns 0 when this rank's part is complete, `unfinished`, or an error. After an error the exchange is complete,
  /// too, unless gave_up() is true.
  int advance() {
    if (!begun_) {
      const int error = payload_.begin(fabric_);
      if (error == unfinished) return error;
      if (error) return give_up(error);
      begun_ = true;
    }
    do {
      for (; round_ < payload_.rounds(); ++round_) {
        const int error = run(payload_.round(round_));
        if (error == unfinished) return error;
        if (error) return give_up(error);
      }
      if (!payload_.next_pass()) break;
      round_ = 0;
    } while (true);
    const int error = fabric_.finish_exchange();
    if (error == unfinished) return error;
    if (error) return give_up(error);
    return payload_.over();
  }

 private:
  int run(const Round& round) {
    if (!entered_) enter(round);
    while (true) {
      if (active_ == 0) {
        if (next_send_ == round.send_count && next_receive_ == round.receive_count) break;
        const auto phase = fabric_.in_transfer_phase();
        if (const int error = fill_all(round)) return error;
        if (next_send_ == round.send_count) fabric_.all_sends_started();
        if (!std::exchange(copied_, true)) payload_.copy(round_);
        if (active_ == 0 && !sliding_) end_batch();
        continue;
      }
      const auto phase = fabric_.in_wait_phase();
      const int error = !sliding_ && fabric_.can_finish_all() ? finish_batch() : poll(round);
      if (error) return error;
    }
    if (!copied_) payload_.copy(round_);
    entered_ = false;
    return 0;
  }

  void enter(const Round& round) {
    entered_ = true;
    copied_ = false;
    window_ = round.in_flight();
    sliding_ = round.completion != Completion::all;
    next_send_ = next_receive_ = 0;
    active_ = 0;
    fabric_.enter(round_, round);
  }

  [[gnu::always_inline]] int fill_all(const Round& round) {
    const std::uint32_t slots = 2 * window_;
    const bool in_turn = round.posting == Posting::interleaved;
    for (std::uint32_t i = 0; i < slots; ++i)
      if (const int error = fill(round, in_turn ? i / 2 + i % 2 * window_ : i)) return error;
    return 0;
  }

  [[gnu::always_inline]] int fill(const Round& round, std::uint32_t slot) {
    return slot < window_ ? fill<false>(slot, round.first_receive, round.receive_count, next_receive_)
                          : fill<true>(slot, round.first_send, round.send_count, next_send_);
  }

  /// Starts the next message in a free slot, if the round has one left. In a batch, a message that is empty or
  /// completes at once uses up its slot; a sliding window goes on to the next message.
  template <bool is_send>
  [[gnu::always_inline]] int fill(std::uint32_t slot, std::uint32_t first, std::uint32_t count, std::uint32_t& next) {
    while (next < count) {
      const std::uint32_t message = first + next++;
      Started started = Started::nothing;
      if (const int error = payload_.template start<is_send>(message, slot, fabric_, started)) return error;
      if constexpr (Payload::hears)
        if (started != Started::nothing) payload_.messages()[slot] = message;
      if (started == Started::underway) {
        ++active_;
        return 0;
      }
      if (!sliding_) return 0;
      if (started == Started::finished) over(slot);
    }
    return 0;
  }

  /// Completes all messages of a batch at once. Requires that all of them are requests of the fabric.
  int finish_batch() {
    if (const int error = fabric_.finish_all()) return error;
    active_ = 0;
    end_batch();
    return 0;
  }

  void end_batch() {
    if constexpr (Payload::hears)
      for (std::uint32_t slot = 0; slot < 2 * window_; ++slot)
        if (payload_.messages()[slot] != no_message) over(slot);
  }

  /// Polls until at least one message completes if the fabric waits; otherwise polls once.
  int poll(const Round& round) {
    bool any = false;
    while (true) {
      bool moved = false;
      const int error = fabric_.poll(active_, moved, [&](std::uint32_t slot) -> int {
        any = true;
        return done(round, slot);
      });
      if (error) return error;
      if (any) return 0;
      if (!fabric_.pause_if_allowed(moved)) return moved ? 0 : unfinished;
    }
  }

  /// Handles the completion of the part in `slot`: starts the further part of the message if there is one, and
  /// otherwise completes the message.
  int done(const Round& round, std::uint32_t slot) {
    if constexpr (Payload::has_parts) {
      Started started = Started::nothing;
      if (slot < window_)
        if (const int error = payload_.go_on(payload_.messages()[slot], slot, fabric_, started)) return error;
      if (started == Started::underway) return 0;
    }
    --active_;
    if (!sliding_) {
      if (active_ == 0) end_batch();
      return 0;
    }
    over(slot);
    return fill(round, slot);
  }

  void over(std::uint32_t slot) {
    if constexpr (Payload::hears) {
      const std::uint32_t message = std::exchange(payload_.messages()[slot], no_message);
      slot < window_ ? payload_.template finished<false>(message, slot)
                     : payload_.template finished<true>(message, slot);
    }
  }

  Fabric& fabric_;
  Payload& payload_;
  std::size_t round_ = 0;
  bool begun_ = false, entered_ = false, copied_ = false, sliding_ = false, gave_up_ = false;
  std::uint32_t window_ = 0;
  std::uint32_t next_send_ = 0, next_receive_ = 0;  ///< index of the first one not started, within the round
  std::uint32_t active_ = 0;                        ///< number of messages in flight
};

}  // namespace swapmeet
