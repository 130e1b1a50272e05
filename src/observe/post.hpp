/// What the calls on a communicator publish for the watchdog: relaxed stores into fixed memory, by the one thread that
/// is in the call. The watchdog of this process reads it, and those of other ranks of the node, out of its memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "observe/trace.hpp"
#include "schedule/collective.hpp"

namespace swapmeet {

/// What a rank is doing on a communicator.
enum class Doing : std::uint8_t { nothing, meeting, joining, agreeing, sizes, exchanging, host, planning, checking };

/// The memory of a post: words, for its writer (std::atomic), or as they were read (Plain).
template <template <class> class Cell>
struct PostWords {
  using Word = Cell<std::int64_t>;

  struct Message {
    Word key;  ///< an address that is its own until it is done; 0: none
    Word sends, peer, bytes, step;
  };

  Word party;                     ///< which communicator of this process; 0: the post is free
  Word number;                    ///< by which all ranks know the communicator; no_number: they have not met
  Word members, name;             ///< hashes of its members' ranks in MPI_COMM_WORLD, and of its name; 0: it has none
  Word entered, left;             ///< calls begun and ended
  Word moves;                     ///< rises whenever anything happens
  Word doing, collective, bytes;  ///< bytes: that the rank sends
  Word tally;                     ///< address of the Tally of the call, for its own process; 0: not decided
  Word step;                      ///< of the schedule; no_step: none
  Word background;  ///< 1: non-blocking exchanges, which wait only while somebody looks after them: `looks` rises
  Word looks;
  Word untold;  ///< messages in flight that the table had no room for

  static constexpr std::size_t most_messages = 24;
  Message messages[most_messages];
};

template <class Value>
using Plain = Value;

static_assert(sizeof(PostWords<std::atomic>) == sizeof(PostWords<Plain>));

/// A post as it was read.
struct PostCopy : PostWords<Plain> {
  static constexpr std::int64_t no_number = -1, no_step = -1;

  Doing does() const { return static_cast<Doing>(doing); }
  bool in_call() const { return entered > left; }
  /// The number of the call under way, or of the next one.
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

  /// The ranks compare their arguments before the call begins.
  void checks(Collective what) { set(collective, static_cast<std::int64_t>(what)); }

  /// Returns what it was doing.
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
  /// What was known of a call.
  void forget() {
    set(tally, 0);
    set(bytes, 0);
    for (Message& message : messages) set(message.key, 0);
    set(untold, 0);
    set(step, PostCopy::no_step);
  }
};

/// As long as it lives, the rank is `doing` that. `post`: nullptr if there is no watchdog.
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

/// All posts of a process, where others read them.
template <template <class> class Cell, class Entry>
struct BoardOf {
  static constexpr std::size_t most = 64;
  Cell<std::int64_t> finalizes;  ///< MPI_Finalize has been called
  Entry posts[most];
};
using Board = BoardOf<std::atomic, Post>;
using BoardCopy = BoardOf<Plain, PostCopy>;
static_assert(sizeof(Board) == sizeof(BoardCopy));

}  // namespace swapmeet
