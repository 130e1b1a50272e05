/// The engine: one exchange of one rank, round by round. It alone knows windows, completion rules and the order of
/// posting; everything that executes a schedule or a flow is this engine over a fabric and with a payload.
///
/// Fabric   moves messages: over MPI and within the node (exchange/links.hpp), or between the ranks of a proof
///          (verify/mailbox.hpp).
/// Payload  says what they hold: the rounds, the first and perhaps a further part of each message, copies, and what
///          becomes of a message that has arrived or left.
///
/// A message in flight has a slot: 0..window-1 receives, window..2·window-1 sends. With complete=all, slots are filled
/// once all are free (a batch); with complete=any and test, each as soon as it is free.
///
/// advance() never allocates. It is resumable: with a fabric that does not wait it returns `unfinished` where nothing
/// moves, and goes on there when it is called again.
///
/// Errors: a payload that has failed (no memory, a message that was not as long as expected) goes on to exchange what
/// it can, marked, so that every rank that depends on it learns of it and all stay in step; the exchange then ends with
/// the first such error. Only where the fabric itself fails is the exchange given up.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// In place of an error: what was asked for is not there yet; call again.
inline constexpr int unfinished = INT_MIN;

/// What starting a message came to.
enum class Started : std::uint8_t {
  nothing,   ///< it holds nothing, and is left out at both ends
  finished,  ///< it is over already
  underway,
};

template <class Fabric, class Payload>
class Engine {
 public:
  /// Both live as long. The fabric has room for the widest window of the payload.
  Engine(Fabric& fabric, Payload& payload) : fabric_(fabric), payload_(payload) {}

  /// The next exchange begins, from the beginning.
  void restart() {
    round_ = 0;
    begun_ = entered_ = gave_up_ = false;
  }

  /// One round alone, to its end or as advance().
  int round(std::size_t index) {
    round_ = index;
    const int error = run(payload_.round(index));
    return error && error != unfinished ? give_up(error) : error;
  }

  /// Gives up the exchange for an error of the fabric, which is returned.
  int give_up(int error) {
    gave_up_ = true;
    fabric_.abandon();
    return error;
  }
  bool gave_up() const { return gave_up_; }

  /// 0: the rank's own part is over; `unfinished`; or an error, after which it is over, too, unless it gave_up().
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
    const int error = fabric_.finish_background();
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
        const auto phase = fabric_.transferring();
        if (const int error = fill_all(round)) return error;
        if (next_send_ == round.send_count) fabric_.posted();
        if (!std::exchange(copied_, true)) payload_.copy(round_);
        if (active_ == 0 && !sliding_) end_batch();
        continue;
      }
      const auto phase = fabric_.waiting();
      const int error = !sliding_ && fabric_.waits_for_all() ? finish_batch() : poll(round);
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

  int fill_all(const Round& round) {
    const std::uint32_t slots = 2 * window_;
    const bool in_turn = round.posting == Posting::interleaved;
    for (std::uint32_t i = 0; i < slots; ++i)
      if (const int error = fill(round, in_turn ? i / 2 + i % 2 * window_ : i)) return error;
    return 0;
  }

  int fill(const Round& round, std::uint32_t slot) {
    return slot < window_ ? fill<false>(slot, round.first_receive, round.receive_count, next_receive_)
                          : fill<true>(slot, round.first_send, round.send_count, next_send_);
  }

  /// Starts the next message in a free slot, if one is left. A batch counts messages that hold nothing or are over at
  /// once, a sliding window does not.
  template <bool is_send>
  int fill(std::uint32_t slot, std::uint32_t first, std::uint32_t count, std::uint32_t& next) {
    while (next < count) {
      const std::uint32_t message = first + next++;
      Started started = Started::nothing;
      if (const int error = payload_.template start<is_send>(message, slot, fabric_, started)) return error;
      if (started == Started::underway) {
        ++active_;
        return 0;
      }
      if (!sliding_) return 0;
      if (started == Started::finished) over(slot);
    }
    return 0;
  }

  /// All messages of a batch at once, where all are requests of the fabric.
  int finish_batch() {
    if (const int error = fabric_.finish_all()) return error;
    active_ = 0;
    end_batch();
    return 0;
  }

  void end_batch() {
    if constexpr (Payload::hears)
      for (std::uint32_t slot = 0; slot < 2 * window_; ++slot)
        if (fabric_.taken(slot)) over(slot);
  }

  /// Until some message is over, where the fabric waits; else one look.
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
      if (!fabric_.turn(moved)) return moved ? 0 : unfinished;
    }
  }

  /// What `slot` held is over, unless the message has a further part.
  int done(const Round& round, std::uint32_t slot) {
    if constexpr (Payload::has_parts) {
      Started started = Started::nothing;
      if (slot < window_)
        if (const int error = payload_.go_on(fabric_.message(slot), slot, fabric_, started)) return error;
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
      const std::uint32_t message = fabric_.free(slot);
      slot < window_ ? payload_.template finished<false>(message, slot)
                     : payload_.template finished<true>(message, slot);
    }
  }

  Fabric& fabric_;
  Payload& payload_;
  std::size_t round_ = 0;
  bool begun_ = false, entered_ = false, copied_ = false, sliding_ = false, gave_up_ = false;
  std::uint32_t window_ = 0;
  std::uint32_t next_send_ = 0, next_receive_ = 0;  ///< messages of the round that have not been started
  std::uint32_t active_ = 0;                        ///< slots in use
};

}  // namespace swapmeet
