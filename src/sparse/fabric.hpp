/// What sparse exchanges ask of whoever carries their messages, MPI or a test: a class with the members of SparseFabric.
/// Each returns 0 or an error, and none waits, but for census(), which may wait for all ranks.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// A message that this rank has to send.
struct SparseSend {
  Rank destination = 0;
  std::int64_t bytes = 0;
};

/// Messages on different channels, and those of different calls, are never taken for one another. Of those on one channel
/// from one rank to another the first that is sent is the first that is found.
enum class Channel : std::uint8_t {
  direct,  ///< from its source to its destination
  hop,     ///< what is passed on
};

inline constexpr Rank any_source = -1;

/// A message that was found, and is to be received next.
struct FoundMessage {
  bool there = false;
  Rank source = 0;
  std::int64_t bytes = 0;
};

template <class Fabric>
concept SparseFabric =
    requires(Fabric fabric, std::size_t number, std::size_t& left, char* room, const char* memory, std::int64_t bytes,
             std::int64_t& expected, Rank rank, FoundMessage& found, bool& over, std::span<const SparseSend> sends) {
      /// Starts to send our message of that number to its destination. `true`: it counts as sent when it is being received.
      { fabric.send_own(number, true) } -> std::same_as<int>;
      /// Starts to send bytes as a hop. They must stay until all sends are over.
      { fabric.send_hop(rank, memory, bytes) } -> std::same_as<int>;
      { fabric.sends_left(Channel::hop, left) } -> std::same_as<int>;
      /// Looks for a message, from one rank or any_source.
      { fabric.look(Channel::direct, rank, found) } -> std::same_as<int>;
      /// Begins to receive what was found last; nullptr: its bytes are dropped.
      { fabric.receive(room, bytes) } -> std::same_as<int>;
      { fabric.receives_left(left) } -> std::same_as<int>;
      /// A barrier, which is over when all ranks have begun it.
      { fabric.begin_barrier() } -> std::same_as<int>;
      { fabric.barrier_over(over) } -> std::same_as<int>;
      /// Sums up how many messages are for this rank, on all ranks; or begins to, and is asked again.
      { fabric.census(sends, expected, over) } -> std::same_as<int>;
      /// Copies the bytes of our message of that number.
      { fabric.copy_own(number, room) } -> std::same_as<int>;
    };

}  // namespace swapmeet
