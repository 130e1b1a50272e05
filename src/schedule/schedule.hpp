/// A schedule describes the operations of one rank during an all-to-all, by integers only.
///
/// It says which blocks go to which rank, in which step, through which buffer, and in which order. It holds no pointer,
/// no data and no MPI handle, so the same object is executed, verified, counted, simulated and drawn.
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

/// Nested groups of ranks, such as nodes and racks, innermost level first. hierarchy[level][rank] is the group of the
/// rank at that level; groups have arbitrary numbers. Each group lies within one group of the next level.
using Hierarchy = std::vector<std::vector<std::int32_t>>;

/// A precomputed order: the slot in which each member sends to each other member. In a slot, a member sends to at most
/// one member and receives from at most one. Members are ranks; in exchanges by leaders they are nodes, in the order of
/// their first ranks. Holds the rows of one member or of all.
struct SlotRows {
  std::int32_t members = 1, slots = 0;
  std::int32_t only = -1;                     ///< the member whose rows these are; -1: rows of all members
  std::vector<std::int32_t> sends, receives;  ///< slot at [row · members + other]; -1: the member itself

  std::span<const std::int32_t> sends_of(std::int32_t member) const { return row(sends, member); }
  std::span<const std::int32_t> receives_of(std::int32_t member) const { return row(receives, member); }

 private:
  std::span<const std::int32_t> row(const std::vector<std::int32_t>& rows, std::int32_t member) const {
    const auto length = static_cast<std::size_t>(members);
    return std::span(rows).subspan(only < 0 ? static_cast<std::size_t>(member) * length : 0, length);
  }
};

/// The parts of a communicator that generators use: integers that all ranks share, and the rank's own part of a
/// computed order.
struct Shape {
  Rank ranks = 1;
  Hierarchy hierarchy{};                    ///< empty: all ranks on one node
  std::shared_ptr<const SlotRows> order{};  ///< for order=topology; null: such exchanges use order=shift

  /// Whether two ranks are on one node, that is, in one group of the innermost level.
  bool share_node(Rank a, Rank b) const {
    return hierarchy.empty() ||
           hierarchy.front()[static_cast<std::size_t>(a)] == hierarchy.front()[static_cast<std::size_t>(b)];
  }

  bool operator==(const Shape&) const = default;
};

/// The buffers that blocks can be in. `send` and `receive` belong to the application and hold one block for each rank
/// (in a virtual topology: for each neighbour). `scratch` is Swapmeet's own memory.
enum class Buffer : std::uint8_t { send, receive, scratch };

/// Numbers of blocks that a rank sends and receives in an exchange with neighbours of a virtual topology. They include
/// blocks of neighbours that are MPI_PROC_NULL.
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

/// Blocks sent to or received from `peer` in one message. In a schedule they are the runs [first, first + count); in a
/// flow, `count` blocks. The n-th send of rank a to rank b matches the n-th receive of b from a; there are no tags.
struct Message {
  Rank peer = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  /// Whether every block of the message ends at the receiver, which therefore knows their sizes. Both ends have the
  /// same value.
  bool last = false;
};

/// A copy of blocks within the rank. Both runs have the same count.
struct Copy {
  Run from;
  Run to;
  bool operator==(const Copy&) const = default;
};

/// Condition for starting a new message while others are in flight.
enum class Completion : std::uint8_t {
  all,  ///< batches of `window` sends and receives: a batch completes before the next one starts
  /// as soon as a send (receive) completes, the next send (receive) starts; the waiting rank yields its core
  any,
  test,  ///< as `any`, but the waiting rank polls for long before it yields its core
};

/// The order in which the messages of a batch are passed to MPI.
enum class Posting : std::uint8_t {
  receives_first,  ///< all receives, then all sends
  interleaved,     ///< receive, send, receive, send, ...
  /// As receives_first, with a grant for each message: after posting a receive, the receiver sends an empty message,
  /// and the sender waits for it. So no message arrives before its receive is posted.
  granted,
};

/// The purpose of a step's copies. It does not change what is executed, so the text form ignores it.
enum class Purpose : std::uint8_t {
  copy,    ///< own blocks, rotations
  pack,    ///< gather blocks for messages
  unpack,  ///< distribute blocks of messages
};

/// Messages that are independent of one another. They start in list order, with at most `window` sends and `window`
/// receives in flight. A round begins when the previous round is complete on this rank.
struct Round {
  std::uint32_t first_send = 0, send_count = 0;
  std::uint32_t first_receive = 0, receive_count = 0;
  std::int32_t window = 0;  ///< messages in flight in each direction; 0: all
  Completion completion = Completion::all;
  Posting posting = Posting::receives_first;

  /// Returns the window in messages: at least 1, and at most the number of messages (if there are any).
  std::uint32_t in_flight() const {
    const std::uint32_t most = std::max({send_count, receive_count, 1u});
    return window == 0 ? most : std::min(most, static_cast<std::uint32_t>(window));
  }

  /// Whether each message starts as another one completes, instead of batch by batch.
  bool slides() const { return completion != Completion::all && in_flight() < std::max(send_count, receive_count); }
};

/// A round with copies. All operations of a step are independent of one another: no operation touches a block that
/// another one writes. So they may run in any order and overlap.
struct Step : Round {
  std::uint32_t first_copy = 0, copy_count = 0;
  Purpose purpose = Purpose::copy;
};

/// The messages of one rank, by the rounds that contain them.
struct Messages {
  std::vector<Message> sends, receives;

  std::span<const Message> sends_of(const Round& round) const {
    return std::span(sends).subspan(round.first_send, round.send_count);
  }
  std::span<const Message> receives_of(const Round& round) const {
    return std::span(receives).subspan(round.first_receive, round.receive_count);
  }
};

/// Messages whose blocks are runs.
struct RunMessages : Messages {
  std::vector<Run> runs;

  /// Reserves memory for `messages` messages in each direction.
  void reserve(std::size_t messages) {
    sends.reserve(messages);
    receives.reserve(messages);
    runs.reserve(2 * messages);
  }
  /// Appends `blocks` to the runs, and returns the message that has them.
  Message message(Rank peer, std::span<const Run> blocks, bool last) {
    const auto first = static_cast<std::uint32_t>(runs.size());
    runs.insert(runs.end(), blocks.begin(), blocks.end());
    return {peer, first, static_cast<std::uint32_t>(blocks.size()), last};
  }

  std::span<const Run> runs_of(const Message& message) const {
    return std::span(runs).subspan(message.first, message.count);
  }
  /// Returns the number of blocks in a message.
  std::int64_t block_count(const Message& message) const {
    std::int64_t blocks = 0;
    for (const Run& run : runs_of(message)) blocks += run.count;
    return blocks;
  }
};

/// The operations of one rank. Made by ScheduleBuilder only.
struct Schedule : RunMessages {
  Rank ranks = 1;
  Rank rank = 0;
  std::int32_t scratch_blocks = 0;
  /// 0: whole blocks. Otherwise all steps run once for each segment of `segment_bytes` bytes. Pass s moves the bytes
  /// [s·segment_bytes, (s+1)·segment_bytes) of every block, as far as the block has them. The last segment may be
  /// shorter.
  std::int64_t segment_bytes = 0;
  std::optional<Degrees> neighbours{};  ///< nothing: an all-to-all, with one block for each rank
  std::vector<Step> steps;
  std::vector<Copy> copies;

  std::span<const Copy> copies_of(const Step& step) const {
    return std::span(copies).subspan(step.first_copy, step.copy_count);
  }

  /// Returns the number of blocks that `buffer` has room for.
  std::int32_t blocks_in(Buffer buffer) const {
    if (buffer == Buffer::scratch) return scratch_blocks;
    return !neighbours ? ranks : buffer == Buffer::send ? neighbours->out : neighbours->in;
  }
};

}  // namespace swapmeet
