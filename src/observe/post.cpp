#include "observe/post.hpp"

#include <algorithm>
#include <cstring>

namespace swapmeet {

namespace {

constexpr std::size_t words_of_event = sizeof(CallEvent) / sizeof(Post::Word);

}  // namespace

void Post::add(const CallEvent& event) {
  Word words[words_of_event];
  std::memcpy(words, &event, sizeof event);
  auto* const to = reinterpret_cast<Word*>(get(ring)) + static_cast<std::uint64_t>(get(next)) % room * words_of_event;
  for (std::size_t i = 0; i < words_of_event; ++i) set(to[i], words[i]);
  set(next, get(next) + 1);
  set(in_flight, std::max<Word>(get(in_flight) + (event.kind == CallEvent::Kind::begins ? 1 : -1), 0));
  moved();
}

bool read_here(std::uint64_t address, void* to, std::size_t bytes) {
  const auto* const from = reinterpret_cast<const Post::Word*>(address);
  for (std::size_t i = 0; i < bytes / sizeof(Post::Word); ++i) {
    const Post::Word word = Post::get(from[i]);
    std::memcpy(static_cast<char*>(to) + i * sizeof word, &word, sizeof word);
  }
  return true;
}

PostCopy with_messages(const Post& post, const ReadMemory& read) {
  PostCopy copy{post};
  if (post.in_flight == 0) return copy;
  std::vector<CallEvent> ring(Post::room), events;
  const bool readable = read(static_cast<std::uint64_t>(post.ring), ring.data(), ring.size() * sizeof ring[0]);
  const auto first = static_cast<std::uint64_t>(post.first), next = static_cast<std::uint64_t>(post.next);
  for (std::uint64_t i = std::max(first, next - std::min(next, Post::room)); i < next && readable; ++i)
    events.push_back(ring[i % Post::room]);
  copy.messages = messages_in(events);
  std::erase_if(copy.messages, [](const CallMessage& message) { return message.over; });
  copy.messages.resize(std::min(copy.messages.size(), PostCopy::most_messages));
  copy.more_messages = std::max<Post::Word>(post.in_flight - static_cast<Post::Word>(copy.messages.size()), 0);
  return copy;
}

}  // namespace swapmeet
