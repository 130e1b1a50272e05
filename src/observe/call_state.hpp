/// The progress of the calls on a communicator, as published for the watchdog: words that describe the current call,
/// and the list of its messages in flight. The thread in the call writes them into fixed memory. The watchdog of this
/// process reads them, and the watchdogs of node peers read them out of the process's memory.
///
/// A message leaves the list when it is done, so the messages that a rank waits for are in it, however many others the
/// call had. Each communicator has a list of its own.
///
/// The thread in the call waits for no reader. A counter is odd while the thread changes the words, and each change
/// raises it: a copy is right if the counter was even before it, and the same after it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "observe/event.hpp"
#include "schedule/collective.hpp"

namespace swapmeet {

/// The activity of a rank on a communicator. The names are in stall.cpp, in this order.
enum class Doing : std::uint8_t {
  nothing,
  setting_up,      ///< exchanging parameters with all ranks
  sharing_memory,  ///< setting up shared memory
  agreeing,        ///< on how to serve the call
  sizes,           ///< agreeing on sizes
  exchanging,
  host,  ///< in the host MPI
  planning,
  checking  ///< comparing arguments
};

/// The state of the calls on one communicator.
struct CallState {
  using Word = std::int64_t;
  static constexpr Word no_number = -1, no_step = -1;

  Word communicator = 0;       ///< number of the communicator in this process; 0: the state is not in use
  Word number = no_number;     ///< number of the communicator, the same on all its ranks; no_number: not set up yet
  Word members = 0, name = 0;  ///< hashes of the members' ranks in MPI_COMM_WORLD and of the name; 0: no name
  Word entered = 0, left = 0;  ///< numbers of calls begun and ended
  Word moves = 0;              ///< counter that rises with every event; odd during a change
  Word doing = 0, collective = 0, bytes = 0;  ///< bytes: sent by this rank
  Word tally = 0;                             ///< address of the call's Tally, for this process only; 0: not decided
  Word step = no_step;                        ///< step of the schedule; no_step: none
  Word background = 0;  ///< 1: of non-blocking exchanges, whose waiting counts only while `looks` rises
  Word looks = 0;
  /// Address in this process of the list: CallEvents of messages that have begun, in this order. `message` is 0 in an
  /// entry whose message is done.
  Word list = 0;
  Word room = 0;             ///< number of entries that the list has memory for
  Word first = 0, next = 0;  ///< the first entry in use, and the first one behind all in use
  Word in_flight = 0;        ///< number of messages; more than are listed if there was no room
  Word sought = 0;           ///< the entry behind that of the message that was done last

  /// The number of entries that suffices for a communicator of so many ranks: an exchange has at most some messages
  /// under way to and from each rank at a time.
  static Word room_for(Rank ranks) { return 256 + 8 * Word{ranks}; }

  void call_begins(Collective what, std::int64_t sent_bytes) {
    in_change([&] {
      forget();
      set(collective, static_cast<Word>(what));
      set(bytes, sent_bytes);
      set(entered, get(entered) + 1);
      set(doing, static_cast<Word>(Doing::agreeing));
    });
  }
  void call_ends() {
    in_change([&] {
      set(left, get(entered));
      forget();
      set(doing, static_cast<Word>(Doing::nothing));
    });
  }

  /// Sets the collective before the call begins, for the comparison of arguments.
  void checks(Collective what) { set(collective, static_cast<Word>(what)); }

  /// Sets the activity and returns the previous one.
  Doing does(Doing now) {
    const auto before = static_cast<Doing>(get(doing));
    in_change([&] { set(doing, static_cast<Word>(now)); });
    return before;
  }
  void moved() { set(moves, (get(moves) | 1) + 1); }
  void steps(std::size_t index) {
    in_change([&] { set(step, static_cast<Word>(index)); });
  }
  /// Lists a message that begins. Without room it is only counted.
  void message_begins(const CallEvent& event);
  void message_is_done(std::uint64_t message);

  Doing does() const { return static_cast<Doing>(doing); }
  bool in_call() const { return entered > left; }
  /// Returns the number of the current call, or of the next one if there is none.
  Word call() const { return in_call() ? entered : left + 1; }

  static Word get(const Word& word) { return std::atomic_ref(const_cast<Word&>(word)).load(std::memory_order_acquire); }
  static void set(Word& word, Word value) { std::atomic_ref(word).store(value, std::memory_order_release); }

 private:
  /// Calls change(), which changes words. Another thread may change them at the same time when it finds that a call has
  /// failed; the next change makes the counter even again.
  void in_change(auto change) {
    const Word odd = get(moves) | 1;
    set(moves, odd);
    change();
    set(moves, odd + 1);
  }

  Word* entry(Word index) const;
  void make_room();

  /// Clears the description of the call.
  void forget() {
    set(tally, 0);
    set(bytes, 0);
    set(first, 0);
    set(next, 0);
    set(in_flight, 0);
    set(step, no_step);
  }
};

/// The state of the calls on one communicator, which its watchdog takes back at the end.
using OwnCallState = std::unique_ptr<CallState, std::function<void(CallState*)>>;

/// A scope in which the rank is `doing` something. `state`: nullptr without a watchdog.
class DoingNow {
 public:
  DoingNow(CallState* state, Doing doing) : call_state_(state), before_(state ? state->does(doing) : doing) {}
  ~DoingNow() {
    if (call_state_) call_state_->does(before_);
  }
  DoingNow(const DoingNow&) = delete;
  DoingNow& operator=(const DoingNow&) = delete;

 private:
  CallState* call_state_;
  Doing before_;
};

/// The states of all watched communicators of a process, in the memory that node peers read.
struct CallStates {
  static constexpr std::size_t most = 64;
  CallState::Word finalizes = 0;  ///< 1: MPI_Finalize has been called
  CallState states[most];
};

/// A copy of a call state, and the messages in flight on its communicator.
struct CallStateCopy : CallState {
  std::vector<CallEvent> messages{};  ///< the first `most_messages` of them
  Word more_messages = 0;
  static constexpr std::size_t most_messages = 24;
};

/// A function that copies `bytes` bytes, whole words, at `address` of a process. Returns false if it cannot.
using ReadMemory = std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>;

/// ReadMemory for this process, whose threads may be writing to the memory.
bool read_here(std::uint64_t address, void* to, std::size_t bytes);

/// Copies the call state at `address` of the process that `read` reads, with its messages in flight. No message is listed of
/// a rank that exchanges messages so fast that no copy is right.
CallStateCopy copy_of_call_state(std::uint64_t address, const ReadMemory& read);

}  // namespace swapmeet
