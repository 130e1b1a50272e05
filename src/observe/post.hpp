/// The progress of the calls on a communicator, as published for the watchdog: words that describe the current call,
/// and a ring of its last events. The thread in the call writes them by relaxed stores into fixed memory. The watchdog
/// of this process reads them, and the watchdogs of node peers read them out of the process's memory.
///
/// Each communicator has a ring of its own. A waiting rank is found by its oldest events, which the calls of other
/// threads on other communicators would overwrite in a ring of the whole process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "observe/event.hpp"
#include "schedule/collective.hpp"

namespace swapmeet {

/// The activity of a rank on a communicator.
enum class Doing : std::uint8_t { nothing, meeting, joining, agreeing, sizes, exchanging, host, planning, checking };

struct Post {
  using Word = std::int64_t;
  static constexpr Word no_number = -1, no_step = -1;
  static constexpr std::uint64_t room = 2048;  ///< number of events in the ring

  Word party = 0;              ///< number of the communicator in this process; 0: the post is free
  Word number = no_number;     ///< number of the communicator, the same on all its ranks; no_number: not set up yet
  Word members = 0, name = 0;  ///< hashes of the members' ranks in MPI_COMM_WORLD and of the name; 0: no name
  Word entered = 0, left = 0;  ///< numbers of calls begun and ended
  Word moves = 0;              ///< counter that rises with every event
  Word doing = 0, collective = 0, bytes = 0;  ///< bytes: sent by this rank
  Word tally = 0;                             ///< address of the call's Tally, for this process only; 0: not decided
  Word step = no_step;                        ///< step of the schedule; no_step: none
  Word background = 0;  ///< 1: post of non-blocking exchanges, whose waiting counts only while `looks` rises
  Word looks = 0;
  Word ring = 0;             ///< address of the events in this process
  Word first = 0, next = 0;  ///< numbers of the first event of the call, and of the next event
  Word in_flight = 0;        ///< number of messages

  void call_begins(Collective what, std::int64_t sent_bytes) {
    forget();
    set(collective, static_cast<Word>(what));
    set(bytes, sent_bytes);
    set(entered, get(entered) + 1);
    does(Doing::agreeing);
  }
  void call_ends() {
    set(left, get(entered));
    forget();
    does(Doing::nothing);
  }

  /// Sets the collective before the call begins, for the comparison of arguments.
  void checks(Collective what) { set(collective, static_cast<Word>(what)); }

  /// Sets the activity and returns the previous one.
  Doing does(Doing now) {
    const auto before = static_cast<Doing>(get(doing));
    set(doing, static_cast<Word>(now));
    moved();
    return before;
  }
  void moved() { set(moves, get(moves) + 1); }
  void steps(std::size_t index) {
    set(step, static_cast<Word>(index));
    moved();
  }
  /// Adds the beginning or the end of a message.
  void add(const CallEvent& event);

  Doing does() const { return static_cast<Doing>(doing); }
  bool in_call() const { return entered > left; }
  /// Returns the number of the current call, or of the next one if there is none.
  Word call() const { return in_call() ? entered : left + 1; }

  static Word get(const Word& word) { return std::atomic_ref(const_cast<Word&>(word)).load(std::memory_order_relaxed); }
  static void set(Word& word, Word value) { std::atomic_ref(word).store(value, std::memory_order_relaxed); }

 private:
  /// Clears the description of the call.
  void forget() {
    set(tally, 0);
    set(bytes, 0);
    set(first, get(next));
    set(in_flight, 0);
    set(step, no_step);
  }
};

/// A scope in which the rank is `doing` something. `post`: nullptr without a watchdog.
class DoingNow {
 public:
  DoingNow(Post* post, Doing doing) : post_(post), before_(post ? post->does(doing) : doing) {}
  ~DoingNow() {
    if (post_) post_->does(before_);
  }
  DoingNow(const DoingNow&) = delete;
  DoingNow& operator=(const DoingNow&) = delete;

 private:
  Post* post_;
  Doing before_;
};

/// All posts of a process, in the memory that node peers read.
struct Board {
  static constexpr std::size_t most = 64;
  Post::Word finalizes = 0;  ///< 1: MPI_Finalize has been called
  Post posts[most];
};

/// A copy of a post, and the messages in flight on its communicator.
struct PostCopy : Post {
  std::vector<CallMessage> messages{};  ///< at most `most_messages` of them
  Word more_messages = 0;
  static constexpr std::size_t most_messages = 24;
};

/// A function that copies `bytes` bytes, whole words, at `address` of a process. Returns false if it cannot.
using ReadMemory = std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>;

/// ReadMemory for this process, whose threads may be writing to the memory.
bool read_here(std::uint64_t address, void* to, std::size_t bytes);

/// Returns `post`, which was copied from the process that `read` reads, with its messages in flight.
PostCopy with_messages(const Post& post, const ReadMemory& read);

}  // namespace swapmeet
