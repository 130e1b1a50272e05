#include "exchange/sized.hpp"

#include <map>
#include <tuple>
#include <utility>

namespace swapmeet {

namespace {

/// Of each message, which one it is of those with its peer in its round. `most`: the largest number of such messages.
template <class MessagesOf>
std::vector<std::uint32_t> numbered(const Flow& flow, std::size_t messages, MessagesOf messages_of,
                                    std::int64_t& most) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(messages);
  for (const Round& round : flow.rounds) {
    std::map<std::pair<Rank, bool>, std::uint32_t> seen;
    for (const Message& message : messages_of(round)) numbers.push_back(seen[{message.peer, message.last}]++);
    for (const auto& [peer, count] : seen) most = std::max<std::int64_t>(most, count);
  }
  return numbers;
}

}  // namespace

SizedState::SizedState(Flow what, Sizes treatment, const Neighbours* neighbours, bool sends_directly)
    : flow(std::move(what)), sizes(treatment), local(neighbours != nullptr) {
  send_numbers =
      numbered(flow, flow.sends.size(), [&](const Round& round) { return flow.sends_of(round); }, most_together);
  receive_numbers =
      numbered(flow, flow.receives.size(), [&](const Round& round) { return flow.receives_of(round); }, most_together);
  std::uint32_t widest = 0, most_blocks = 0;
  for (const Round& round : flow.rounds) widest = std::max(widest, round.in_flight());
  for (const auto* const messages : {&flow.sends, &flow.receives})
    for (const Message& message : *messages)
      if (!message.last) most_blocks = std::max(most_blocks, message.count);
  items.resize(static_cast<std::size_t>(flow.ranks + flow.passed_on));
  gathered.resize(2 * std::size_t{widest});
  awaited.resize(2 * std::size_t{widest});
  // what goes ahead of a message, and behind it in the same room its length
  buffers.make_room(flow.receives.size(), 2 * std::size_t{widest}, most_sizes_bytes(most_blocks) + number_bytes);
  slots.make_room(widest, local, true);
  if (sends_directly) make_room_for_background();
}

void SizedState::make_room_for_background() {
  background.make_room(static_cast<std::uint32_t>(flow.ranks), local, false);
}

}  // namespace swapmeet
