/// Computes the most working memory that one rank needs for a flow, for any size of messages.
///
/// A departing message is gathered, so it occupies memory while it is in flight. An arriving message does so, too. If
/// some of its blocks are passed on, it keeps its memory until the last of them has left, and until the round of that
/// departure is over (complete=all: the batch). If the window of a round slides, any of its messages may be in flight
/// together, up to the window; the largest ones are counted. The result is exact for complete=all. It is an upper bound
/// for every execution with complete=any and complete=test.
///                                                                                [checked by tests/core/flow_test.py]
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "schedule/flow.hpp"

namespace swapmeet {

/// Bytes (or blocks) of memory for an arriving message.
struct Room {
  std::int64_t stays = 0;      ///< occupied until all blocks to be passed on have left
  std::int64_t in_flight = 0;  ///< additionally occupied until the message has arrived
};

/// Returns the sum of the `count` largest sizes. Reorders and truncates `sizes`.
inline std::int64_t sum_of_largest(std::vector<std::int64_t>& sizes, std::size_t count) {
  if (count < sizes.size()) {
    std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(count), std::greater{});
    sizes.resize(count);
  }
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

/// Returns the peak. of_sent(message) is the memory of a departing message, of_received(message) the Room of an
/// arriving one.
template <class OfSent, class OfReceived>
std::int64_t peak_memory(const Flow& flow, OfSent of_sent, OfReceived of_received) {
  struct Received {
    std::int64_t room = 0;
    std::uint32_t waiting = 0;  // blocks that have not left
  };
  std::vector<Received> received(flow.receives.size());
  // For each block that is passed on, the message that brought it.
  std::vector<std::uint32_t> message_of(static_cast<std::size_t>(flow.passed_on));
  const std::int32_t own = flow.own_blocks();
  std::int64_t kept = 0, peak = 0;
  for (const Round& round : flow.rounds) {
    const std::size_t window = round.in_flight(), all = std::max(round.send_count, round.receive_count);
    const std::size_t step = round.slides() ? all : window;
    for (std::size_t first = 0; first < all; first += step) {
      const auto batch = [&](std::uint32_t begin, std::uint32_t count) {
        const std::size_t end = std::min<std::size_t>(first + step, count);
        return std::pair(begin + std::min<std::size_t>(first, count), begin + end);
      };
      const auto [send, sends_end] = batch(round.first_send, round.send_count);
      const auto [receive, receives_end] = batch(round.first_receive, round.receive_count);
      std::vector<std::int64_t> leaving, arriving;
      std::int64_t stays = 0;
      for (std::size_t i = send; i < sends_end; ++i) leaving.push_back(of_sent(flow.sends[i]));
      for (std::size_t i = receive; i < receives_end; ++i) {
        const Room room = of_received(flow.receives[i]);
        received[i].room = room.stays;
        for (const std::int32_t block : flow.arriving_in(flow.receives[i]))
          if (block >= own) {
            message_of[static_cast<std::size_t>(block - own)] = static_cast<std::uint32_t>(i);
            ++received[i].waiting;
          }
        const bool waits = received[i].waiting > 0;
        if (waits) stays += room.stays;
        arriving.push_back(room.in_flight + (waits ? 0 : room.stays));
      }
      const std::int64_t in_flight = sum_of_largest(leaving, window) + sum_of_largest(arriving, window);
      peak = std::max(peak, kept + stays + in_flight);
      kept += stays;
      for (std::size_t i = send; i < sends_end; ++i)
        for (const std::int32_t block : flow.departing_in(flow.sends[i])) {
          if (block < own) continue;
          Received& from = received[message_of[static_cast<std::size_t>(block - own)]];
          if (--from.waiting == 0) kept -= from.room;
        }
    }
  }
  return peak;
}

}  // namespace swapmeet
