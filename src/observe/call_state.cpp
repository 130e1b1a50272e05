#include "observe/call_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace swapmeet {

namespace {

constexpr CallState::Word words_of_event = sizeof(CallEvent) / sizeof(CallState::Word);
constexpr int most_copies = 8;

void write_words(CallState::Word* to, const CallEvent& event) {
  CallState::Word words[words_of_event];
  std::memcpy(words, &event, sizeof event);
  for (CallState::Word i = 0; i < words_of_event; ++i) CallState::set(to[i], words[i]);
}

CallEvent read_words(const CallState::Word* from) {
  CallEvent event;
  read_here(reinterpret_cast<std::uintptr_t>(from), &event, sizeof event);
  return event;
}

}  // namespace

CallState::Word* CallState::entry(Word index) const {
  return reinterpret_cast<Word*>(get(list)) + index * words_of_event;
}

/// Moves the messages in flight to the beginning of the list.
void CallState::make_room() {
  Word kept = 0;
  for (Word i = get(first); i < get(next); ++i)
    if (const CallEvent event = read_words(entry(i)); event.message != 0) write_words(entry(kept++), event);
  set(first, 0);
  set(next, kept);
}

void CallState::message_begins(const CallEvent& event) {
  in_change([&] {
    if (get(next) == get(room)) make_room();
    if (get(next) < get(room)) {
      write_words(entry(get(next)), event);
      set(next, get(next) + 1);
    }
    set(in_flight, get(in_flight) + 1);
  });
}

void CallState::message_is_done(std::uint64_t message) {
  constexpr std::size_t word_of_message = offsetof(CallEvent, message) / sizeof(Word);
  const auto message_at = [this](Word index) { return static_cast<std::uint64_t>(get(entry(index)[word_of_message])); };
  in_change([&] {
    // Messages end mostly in the order in which they began, of each direction: the search goes on behind the last one.
    Word i = get(sought);
    for (Word tries = get(next) - get(first); tries > 0; --tries, ++i) {
      if (i < get(first) || i >= get(next)) i = get(first);
      if (message_at(i) != message) continue;
      write_words(entry(i), {});
      set(sought, i + 1);
      break;
    }
    while (get(first) < get(next) && message_at(get(first)) == 0) set(first, get(first) + 1);
    set(in_flight, std::max<Word>(get(in_flight) - 1, 0));
  });
}

bool read_here(std::uint64_t address, void* to, std::size_t bytes) {
  const auto* const from = reinterpret_cast<const CallState::Word*>(address);
  for (std::size_t i = 0; i < bytes / sizeof(CallState::Word); ++i) {
    const CallState::Word word = CallState::get(from[i]);
    std::memcpy(static_cast<char*>(to) + i * sizeof word, &word, sizeof word);
  }
  return true;
}

CallStateCopy copy_of_call_state(std::uint64_t address, const ReadMemory& read) {
  CallStateCopy copy;
  for (int attempt = 0; attempt < most_copies; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CallState::Word before = 0, after = 0;
    const auto read_moves = [&](CallState::Word& moves) {
      return read(address + offsetof(CallState, moves), &moves, sizeof moves);
    };
    if (!read_moves(before) || !read(address, static_cast<CallState*>(&copy), sizeof(CallState)) || !read_moves(after))
      break;
    copy.more_messages = copy.in_flight;
    if (before != after) continue;  // the list may be another one's
    const CallState::Word used = before % 2 == 0 ? copy.next - copy.first : 0;
    if (used < 0 || used > copy.room) continue;
    std::vector<CallEvent> all(static_cast<std::size_t>(used));
    const auto list = static_cast<std::uint64_t>(copy.list + copy.first * CallState::Word{sizeof(CallEvent)});
    if (used > 0 && !read(list, all.data(), all.size() * sizeof(CallEvent))) break;
    if (!read_moves(after) || before != after || before % 2 != 0) continue;
    std::erase_if(all, [](const CallEvent& event) { return event.message == 0; });
    all.resize(std::min(all.size(), CallStateCopy::most_messages));
    copy.messages = std::move(all);
    copy.more_messages -= static_cast<CallState::Word>(copy.messages.size());
    break;
  }
  return copy;
}

}  // namespace swapmeet
