/// The progress of the calls on a communicator, as published for the watchdog. The thread in the call writes it by
/// relaxed stores into fixed memory. The watchdog of this process reads it, and those of node peers read it out of the
/// process's memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "observe/trace.hpp"
#include "schedule/collective.hpp"

namespace swapmeet {

/// The activity of a rank on a communicator.
enum class Doing : std::uint8_t { nothing, meeting, joining, agreeing, sizes, exchanging, host, planning, checking };

/// The memory of a post: words that are either atomic, for the writer (std::atomic), or a copy that was read (Plain).
template <template <class> class Cell>
struct PostWords {
  using Word = Cell<std::int64_t>;

  struct Message {
    Word key;  ///< address that no other message has until it is done; 0: the entry is free
    Word sends, peer, bytes, step;
  };

  Word party;                     ///< number of the communicator in this process; 0: the post is free
  Word number;                    ///< number of the communicator, the same on all its ranks; no_number: not set up yet
  Word members, name;             ///< hashes of the members' ranks in MPI_COMM_WORLD and of the name; 0: no name
  Word entered, left;             ///< numbers of calls begun and ended
  Word moves;                     ///< counter that rises with every event
  Word doing, collective, bytes;  ///< bytes: sent by this rank
  Word tally;                     ///< address of the call's Tally, for this process only; 0: not decided
  Word step;                      ///< step of the schedule; no_step: none
  Word background;                ///< 1: post of non-blocking exchanges, whose waiting counts only while `looks` rises
  Word looks;
  Word untold;  ///< number of messages in flight without an entry in the table

  static constexpr std::size_t most_messages = 24;
  Message messages[most_messages];
};

template <class Value>
using Plain = Value;

static_assert(sizeof(PostWords<std::atomic>) == sizeof(PostWords<Plain>));

/// A copy of a post.
struct PostCopy : PostWords<Plain> {
  static constexpr std::int64_t no_number = -1, no_step = -1;

  Doing does() const { return static_cast<Doing>(doing); }
  bool in_call() const { return entered > left; }
  /// Returns the number of the current call, or of the next one if there is none.
  std::int64_t call() const { return in_call() ? entered : left + 1; }
};

class Post : public PostWords<std::atomic> {
 public:
  void call_begins(Collective what) {
    forget();
    set(collective, static_cast<std::int64_t>(what));
    set(entered, get(entered) + 1);
    does(Doing::agreeing);
  }
  void call_ends() {
    set(left, get(entered));
    forget();
    does(Doing::nothing);
  }

  /// Sets the collective before the call begins, for the comparison of arguments.
  void checks(Collective what) { set(collective, static_cast<std::int64_t>(what)); }

  /// Sets the activity and returns the previous one.
  Doing does(Doing now) {
    const auto before = static_cast<Doing>(get(doing));
    set(doing, static_cast<std::int64_t>(now));
    moved();
    return before;
  }

  void moved() { set(moves, get(moves) + 1); }
  void steps(std::size_t index) {
    set(step, static_cast<std::int64_t>(index));
    moved();
  }
  void begins(const void* message, Direction direction, Rank peer, std::int64_t message_bytes) {
    moved();
    Message* place = find(message);
    if (!place) place = find(nullptr);
    if (!place) return set(untold, get(untold) + 1);
    set(place->sends, direction == Direction::send);
    set(place->peer, peer);
    set(place->bytes, message_bytes);
    set(place->step, get(step));
    set(place->key, key_of(message));
  }
  void done(const void* message) {
    moved();
    if (Message* const place = find(message)) set(place->key, 0);
    else if (get(untold) > 0) set(untold, get(untold) - 1);
  }

  static std::int64_t get(const Word& word) { return word.load(std::memory_order_relaxed); }
  static void set(Word& word, std::int64_t value) { word.store(value, std::memory_order_relaxed); }

 private:
  static std::int64_t key_of(const void* message) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(message));
  }
  Message* find(const void* message) {
    const auto place =
        std::ranges::find_if(messages, [&](const Message& one) { return get(one.key) == key_of(message); });
    return place == std::end(messages) ? nullptr : place;
  }
  /// Clears the description of the call.
  void forget() {
    set(tally, 0);
    set(bytes, 0);
    for (Message& message : messages) set(message.key, 0);
    set(untold, 0);
    set(step, PostCopy::no_step);
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
template <template <class> class Cell, class Entry>
struct BoardOf {
  static constexpr std::size_t most = 64;
  Cell<std::int64_t> finalizes;  ///< 1: MPI_Finalize has been called
  Entry posts[most];
};
using Board = BoardOf<std::atomic, Post>;
using BoardCopy = BoardOf<Plain, PostCopy>;
static_assert(sizeof(Board) == sizeof(BoardCopy));

}  // namespace swapmeet
