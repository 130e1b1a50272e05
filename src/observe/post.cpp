#include "observe/post.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace swapmeet {

namespace {

constexpr Post::Word words_of_event = sizeof(CallEvent) / sizeof(Post::Word);
constexpr int most_copies = 8;

void write_words(Post::Word* to, const CallEvent& event) {
  Post::Word words[words_of_event];
  std::memcpy(words, &event, sizeof event);
  for (Post::Word i = 0; i < words_of_event; ++i) Post::set(to[i], words[i]);
}

CallEvent read_words(const Post::Word* from) {
  CallEvent event;
  read_here(reinterpret_cast<std::uintptr_t>(from), &event, sizeof event);
  return event;
}

}  // namespace

Post::Word* Post::entry(Word index) const { return reinterpret_cast<Word*>(get(list)) + index * words_of_event; }

/// Moves the messages in flight to the beginning of the list.
void Post::make_room() {
  Word kept = 0;
  for (Word i = get(first); i < get(next); ++i)
    if (const CallEvent event = read_words(entry(i)); event.message != 0) write_words(entry(kept++), event);
  set(first, 0);
  set(next, kept);
}

void Post::message_begins(const CallEvent& event) {
  const Change change(*this);
  if (get(next) == get(room)) make_room();
  if (get(next) < get(room)) {
    write_words(entry(get(next)), event);
    set(next, get(next) + 1);
  }
  set(in_flight, get(in_flight) + 1);
}

void Post::message_is_done(std::uint64_t message) {
  const Change change(*this);
  const auto message_at = [this](Word index) { return read_words(entry(index)).message; };
  for (Word i = get(first); i < get(next); ++i)
    if (message_at(i) == message) {
      write_words(entry(i), {});
      break;
    }
  while (get(first) < get(next) && message_at(get(first)) == 0) set(first, get(first) + 1);
  set(in_flight, std::max<Word>(get(in_flight) - 1, 0));
}

bool read_here(std::uint64_t address, void* to, std::size_t bytes) {
  const auto* const from = reinterpret_cast<const Post::Word*>(address);
  for (std::size_t i = 0; i < bytes / sizeof(Post::Word); ++i) {
    const Post::Word word = Post::get(from[i]);
    std::memcpy(static_cast<char*>(to) + i * sizeof word, &word, sizeof word);
  }
  return true;
}

PostCopy copy_of_post(std::uint64_t address, const ReadMemory& read) {
  PostCopy copy;
  for (int attempt = 0; attempt < most_copies; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Post::Word before = 0, after = 0;
    const auto read_moves = [&](Post::Word& moves) {
      return read(address + offsetof(Post, moves), &moves, sizeof moves);
    };
    if (!read_moves(before) || !read(address, static_cast<Post*>(&copy), sizeof(Post))) break;
    copy.more_messages = copy.in_flight;
    const Post::Word used = before % 2 == 0 ? copy.next - copy.first : 0;
    if (used < 0 || used > copy.room) continue;
    std::vector<CallEvent> all(static_cast<std::size_t>(used));
    const auto list = static_cast<std::uint64_t>(copy.list + copy.first * Post::Word{sizeof(CallEvent)});
    if (used > 0 && !read(list, all.data(), all.size() * sizeof(CallEvent))) break;
    if (!read_moves(after) || before != after || before % 2 != 0) continue;
    std::erase_if(all, [](const CallEvent& event) { return event.message == 0; });
    all.resize(std::min(all.size(), PostCopy::most_messages));
    copy.messages = std::move(all);
    copy.more_messages -= static_cast<Post::Word>(copy.messages.size());
    break;
  }
  return copy;
}

}  // namespace swapmeet
