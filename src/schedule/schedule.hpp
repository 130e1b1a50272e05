/// The vocabulary of the library: what one rank does during an all-to-all, as integers only.
///
/// A schedule says which blocks go to whom, in which steps, through which buffers, and what waits for what. It holds no
/// pointer, no byte and no MPI handle, so the same object is executed, verified, counted, simulated and drawn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace swapmeet {

using Rank = std::int32_t;

/// Groups of ranks within larger groups, innermost level first, such as nodes and racks: for each level, the group of
/// each rank, any numbers. Each group lies within one of the next level.
using Hierarchy = std::vector<std::vector<std::int32_t>>;

/// An order that was computed: in which slot each member sends to each other, no two to one, nor one to two. Members
/// are ranks, or in exchanges by leaders the nodes, in the order of their first ranks. Of one member, or of all.
struct SlotRows {
  std::int32_t members = 1, slots = 0;
  std::int32_t only = -1;                     ///< the member whose rows these are; -1: there are rows of each
  std::vector<std::int32_t> sends, receives;  ///< [row · members + other]: the slot; -1: to itself

  std::span<const std::int32_t> sends_of(std::int32_t member) const { return row(sends, member); }
  std::span<const std::int32_t> receives_of(std::int32_t member) const { return row(receives, member); }

 private:
  std::span<const std::int32_t> row(const std::vector<std::int32_t>& rows, std::int32_t member) const {
    const auto length = static_cast<std::size_t>(members);
    return std::span(rows).subspan(only < 0 ? static_cast<std::size_t>(member) * length : 0, length);
  }
};

/// What a generator must know of the communicator: integers that every rank shares, and its own part of a computed
/// order.
struct Shape {
  Rank ranks = 1;
  Hierarchy hierarchy{};                    ///< empty: all ranks on one node
  std::shared_ptr<const SlotRows> order{};  ///< for order=topology; nothing: such exchanges go in the order of shift

  /// Whether two ranks are on one node: in one group of the innermost level.
  bool share_node(Rank a, Rank b) const {
    return hierarchy.empty() ||
           hierarchy.front()[static_cast<std::size_t>(a)] == hierarchy.front()[static_cast<std::size_t>(b)];
  }

  bool operator==(const Shape&) const = default;
};

/// The three places a block can live in. `send` and `receive` are the application's (one block for each rank,
/// or for each neighbour); `scratch` is ours.
enum class Buffer : std::uint8_t { send, receive, scratch };

/// How many blocks a rank sends and receives where it exchanges with neighbours of a virtual topology. Some may be for
/// nobody (MPI_PROC_NULL).
struct Degrees {
  std::int32_t out = 0, in = 0;
  bool operator==(const Degrees&) const = default;
};

/// `count` blocks of one buffer: first, first + stride, first + 2·stride, ...
struct Run {
  Buffer buffer = Buffer::send;
  std::int32_t first = 0;
  std::int32_t count = 1;
  std::int32_t stride = 1;

  std::int32_t block(std::int32_t index) const { return first + index * stride; }
  bool operator==(const Run&) const = default;
};

/// Blocks that travel together to or from `peer`: of a schedule runs [first, first + count), of a flow so many blocks.
/// The n-th send of rank a to rank b is received by the n-th receive of b from a: there are no tags.
struct Message {
  Rank peer = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  /// Every block of it ends at its receiver, which therefore knows their sizes. Both ends agree on that.
  bool last = false;
};

/// A move of blocks within the rank; both runs have the same count.
struct Copy {
  Run from;
  Run to;
  bool operator==(const Copy&) const = default;
};

/// When a new message may be started while others are in flight.
enum class Completion : std::uint8_t {
  all,   ///< messages go in batches of `window` sends and receives; a batch is finished before the next starts
  any,   ///< whenever a send (receive) completes, the next send (receive) starts; the waiting rank gives its core away
  test,  ///< as `any`, but the waiting rank polls long before it does so
};

/// The order in which a batch is handed to MPI.
enum class Posting : std::uint8_t {
  receives_first,  ///< all receives, then all sends
  interleaved,     ///< receive, send, receive, send, ...
  /// As receives_first, and each receive, once posted, grants its message to the sender by an empty one, which the sender
  /// waits for: no message arrives before its receive is posted.
  granted,
};

/// What the copies of a step are for. It changes nothing in what is done, so neither the text form nor equality know
/// it.
enum class Purpose : std::uint8_t {
  copy,    ///< own blocks, rotations
  pack,    ///< blocks for messages
  unpack,  ///< blocks out of messages
};

/// Messages that are independent of one another. They start in list order, at most `window` sends and `window` receives
/// at a time. A round begins when the previous one is over on this rank.
struct Round {
  std::uint32_t first_send = 0, send_count = 0;
  std::uint32_t first_receive = 0, receive_count = 0;
  std::int32_t window = 0;  ///< messages in flight in each direction; 0: all
  Completion completion = Completion::all;
  Posting posting = Posting::receives_first;

  /// The window in messages, never 0 and never more than there are.
  std::uint32_t in_flight() const;

  /// Whether messages start one by one as others complete, not batch by batch.
  bool slides() const { return completion != Completion::all && in_flight() < std::max(send_count, receive_count); }
};

/// A round, and copies. All of these operations are independent of one another: no block that one of them writes is
/// touched by another, so they may run in any order and overlap.
struct Step : Round {
  std::uint32_t first_copy = 0, copy_count = 0;
  Purpose purpose = Purpose::copy;
};

/// What one rank does. Made by ScheduleBuilder; read by all.
struct Schedule {
  Rank ranks = 1;
  Rank rank = 0;
  std::int32_t scratch_blocks = 0;
  /// 0: whole blocks. Otherwise the whole list of steps is run once for each segment of so many bytes, pass s moving
  /// bytes [s·segment_bytes, (s+1)·segment_bytes) of every block that has them; a shorter trailing remainder included.
  std::int64_t segment_bytes = 0;
  std::optional<Degrees> neighbours{};  ///< nothing: all ranks exchange with all, a block each
  std::vector<Step> steps;
  std::vector<Copy> copies;
  std::vector<Message> sends, receives;
  std::vector<Run> runs;

  std::span<const Copy> copies_of(const Step& step) const;
  std::span<const Message> sends_of(const Step& step) const;
  std::span<const Message> receives_of(const Step& step) const;
  std::span<const Run> runs_of(const Message& message) const;

  /// Number of blocks that `buffer` has room for.
  std::int32_t blocks_in(Buffer buffer) const {
    if (buffer == Buffer::scratch) return scratch_blocks;
    return !neighbours ? ranks : buffer == Buffer::send ? neighbours->out : neighbours->in;
  }

  /// Number of blocks in a message.
  std::int64_t block_count(const Message& message) const;

  /// Equal in meaning: same steps, operations and runs, however they are stored.
  bool operator==(const Schedule& other) const;
};

}  // namespace swapmeet
