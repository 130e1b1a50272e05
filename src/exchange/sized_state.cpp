#include "exchange/sized_state.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace swapmeet {

namespace {

/// Numbers the messages of each round with the same peer. Sets `most` to the largest number of such messages.
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

SizedState::SizedState(Flow what, Sizes treatment, const NodeTransport& node, bool sends_directly,
                       const Neighbourhood* among)
    : flow(std::move(what)), sizes(treatment), messages(node), background(node) {
  among ? list_blocks(*among) : list_blocks();
  send_numbers =
      numbered(flow, flow.sends.size(), [&](const Round& round) { return flow.sends_of(round); }, most_together);
  receive_numbers =
      numbered(flow, flow.receives.size(), [&](const Round& round) { return flow.receives_of(round); }, most_together);
  std::uint32_t widest = 0, most_blocks = 0;
  for (const Round& round : flow.rounds) widest = std::max(widest, round.in_flight());
  for (const auto* const messages : {&flow.sends, &flow.receives})
    for (const Message& message : *messages)
      if (!message.last) most_blocks = std::max(most_blocks, message.count);
  items.resize(static_cast<std::size_t>(flow.own_blocks() + flow.passed_on));
  gathered.resize(2 * std::size_t{widest});
  awaited.resize(2 * std::size_t{widest});
  // A header message; behind it, room for the length of a message whose sizes are in the same buffer.
  buffers.make_room(flow.receives.size(), 2 * std::size_t{widest}, most_sizes_bytes(most_blocks) + number_bytes);
  messages.make_room(widest, true, false);
  if (sends_directly) make_room_for_background();
}

void SizedState::list_blocks() {
  own = {{flow.rank, flow.rank}};
  for (Rank i = 1; i < flow.ranks; ++i) {
    const Rank next = (flow.rank + i) % flow.ranks, before = (flow.rank - i + flow.ranks) % flow.ranks;
    to.push_back({next, next});
    from.push_back({before, before});
  }
}

/// Lists the blocks between two ranks in the order of their edges in the topology, which both ranks know.
void SizedState::list_blocks(const Neighbourhood& among) {
  own = own_blocks(among);
  const auto list = [&](std::vector<Edge> edges, std::vector<End>& ends) {
    std::ranges::stable_sort(edges, {}, &Edge::number);
    for (const Edge& edge : edges)
      if (edge.peer != flow.rank) ends.push_back({edge.peer, edge.block});
  };
  list(edges_out(among), to);
  list(edges_in(among), from);
}

void SizedState::make_room_for_background() {
  background.make_room(static_cast<std::uint32_t>(std::max(to.size(), from.size())), false, false);
}

}  // namespace swapmeet
