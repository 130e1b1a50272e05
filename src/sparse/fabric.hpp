/// The concept SparseFabric: the operations by which a sparse exchange transfers its messages, over MPI or in a test.
/// Each operation returns 0 or an error. None of them waits, except for census(), which may wait for all ranks.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// A message that this rank sends.
struct SparseSend {
  Rank destination = 0;
  std::int64_t bytes = 0;
};

/// Channels separate messages: messages on different channels, and those of different calls, are never mistaken for one
/// another. On one channel, messages from one rank to another are found in the order in which they were sent.
enum class Channel : std::uint8_t {
  direct,  ///< from source to destination
  hop,     ///< forwarded messages
};

inline constexpr Rank any_source = -1;

/// A message that was found by look(), and is received next.
struct FoundMessage {
  bool there = false;
  Rank source = 0;
  std::int64_t bytes = 0;
};

template <class Fabric>
concept SparseFabric =
    requires(Fabric fabric, std::size_t number, std::size_t& left, char* room, const char* memory, std::int64_t bytes,
             std::int64_t& expected, Rank rank, FoundMessage& found, bool& over) {
      /// Starts to send this rank's message `number` to its destination. `true`: the send completes only when the
      /// message is being received (a synchronous send).
      { fabric.send_own(number, true) } -> std::same_as<int>;
      /// Starts to send bytes that are forwarded. The memory must not change until all sends are complete.
      { fabric.send_hop(rank, memory, bytes) } -> std::same_as<int>;
      /// Sets `left` to the number of sends on a channel that are not complete.
      { fabric.sends_left(Channel::hop, left) } -> std::same_as<int>;
      /// Looks for a message from one rank, or from any_source.
      { fabric.look(Channel::direct, rank, found) } -> std::same_as<int>;
      /// Whether all messages that were sent have been found, because so many looks, one after another, have found none.
      /// To be asked before the first look, too.
      { fabric.found_all(0) } -> std::same_as<bool>;
      /// Starts to receive the message that was found last; nullptr: its bytes are discarded.
      { fabric.receive(room, bytes) } -> std::same_as<int>;
      /// Sets `left` to the number of receives that are not complete.
      { fabric.receives_left(left) } -> std::same_as<int>;
      /// Starts a barrier. It is over when all ranks have started it.
      { fabric.begin_barrier() } -> std::same_as<int>;
      { fabric.barrier_over(over) } -> std::same_as<int>;
      /// Counts, over all ranks, the messages for this rank. Either waits for the result, or must be called again until
      /// `over`.
      { fabric.census(expected, over) } -> std::same_as<int>;
      /// Copies the bytes of this rank's message `number`.
      { fabric.copy_own(number, room) } -> std::same_as<int>;
    };

}  // namespace swapmeet
