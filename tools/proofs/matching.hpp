/// Pairs the sends and receives of all ranks, for schedules and for flows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/flow.hpp"

namespace swapmeet {

/// Numbering of the messages of all ranks: the i-th send of rank r has the number sends[r] + i, and receives likewise.
struct Numbering {
  std::vector<std::uint32_t> sends, receives;  ///< shape (P + 1,): number of the first message of each rank
  std::vector<std::uint32_t> receive_of;       ///< for each send, the number of its receive; UINT32_MAX: none
  std::vector<std::uint32_t> send_of;          ///< for each receive, the number of its send; UINT32_MAX: none
};

inline std::int64_t blocks_in(const Schedule& schedule, const Message& message) {
  return schedule.block_count(message);
}
inline std::int64_t blocks_in(const Flow&, const Message& message) { return message.count; }

/// Pairs the n-th send from a to b with the n-th receive of b from a. In flows, messages with `last` set and messages
/// without it are counted separately, because messages without it also hold sizes. All peers must be valid ranks. Calls
/// use(text) for every mismatch: different numbers of messages or of blocks, or `last` set at one end only.
template <class Program, class Use>
Numbering match(std::span<const Program> programs, Use use) {
  constexpr bool by_kind = std::is_same_v<Program, Flow>;
  const std::size_t p = programs.size();
  Numbering numbers{{0}, {0}, {}, {}};
  for (const Program& program : programs) {
    numbers.sends.push_back(numbers.sends.back() + static_cast<std::uint32_t>(program.sends.size()));
    numbers.receives.push_back(numbers.receives.back() + static_cast<std::uint32_t>(program.receives.size()));
  }
  numbers.receive_of.assign(numbers.sends.back(), UINT32_MAX);
  numbers.send_of.assign(numbers.receives.back(), UINT32_MAX);

  // incoming[b] lists the sends to b by source, in program order. The receives of b then take them one by one.
  struct Incoming {
    std::uint32_t source, index;
  };
  std::vector<std::vector<Incoming>> incoming(p);
  for (std::uint32_t a = 0; a < p; ++a)
    for (std::uint32_t i = 0; i < programs[a].sends.size(); ++i)
      incoming[static_cast<std::size_t>(programs[a].sends[i].peer)].push_back({a, i});
  const auto queue = [&](std::size_t source, bool last) { return by_kind ? 2 * source + last : source; };
  const std::size_t queues = by_kind ? 2 * p : p;
  for (std::size_t b = 0; b < p; ++b) {
    std::vector<std::size_t> next(queues + 1, 0), end(queues, 0);
    const auto queue_of = [&](Incoming send) {
      return queue(send.source, programs[send.source].sends[send.index].last);
    };
    for (const Incoming send : incoming[b]) ++next[queue_of(send) + 1];
    for (std::size_t q = 0; q < queues; ++q) next[q + 1] += next[q], end[q] = next[q + 1];
    if constexpr (by_kind) std::ranges::stable_sort(incoming[b], {}, queue_of);
    for (std::size_t i = 0; i < programs[b].receives.size(); ++i) {
      const Message& receive = programs[b].receives[i];
      const auto a = static_cast<std::size_t>(receive.peer);
      const std::size_t q = queue(a, receive.last);
      const auto add = [&](const std::string& problem) {
        use("rank " + std::to_string(b) + " receives from rank " + std::to_string(a) + problem);
      };
      if (next[q] == end[q]) {
        add(" more messages than are sent");
        continue;
      }
      const std::uint32_t index = incoming[b][next[q]++].index;
      const auto number = numbers.receives[b] + static_cast<std::uint32_t>(i);
      numbers.receive_of[numbers.sends[a] + index] = number;
      numbers.send_of[number] = numbers.sends[a] + index;
      const Message& message = programs[a].sends[index];
      const std::int64_t sent = blocks_in(programs[a], message), room = blocks_in(programs[b], receive);
      if (message.last != receive.last) add(" a message that is the last of its blocks for one end only");
      if (sent != room) add(" a message of " + std::to_string(sent) + " blocks into " + std::to_string(room));
    }
    for (std::size_t a = 0; a < p; ++a)
      if (next[queue(a, false)] != end[queue(a, false)] || next[queue(a, true)] != end[queue(a, true)])
        use("rank " + std::to_string(b) + " receives from rank " + std::to_string(a) + " fewer messages than are sent");
  }
  return numbers;
}

}  // namespace swapmeet
