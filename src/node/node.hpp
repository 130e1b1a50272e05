/// Messages between the ranks of a node without MPI. They go through cells of shared memory (two copies, no system
/// call), or by a single copy from the memory of the sender. Messages from one rank to another arrive in order.
/// Messages without data must not be sent.
///
/// One thread at a time. Functions are not collective. As in MPI, a rank must receive the messages that another rank
/// sends to it. A message that is longer than expected is truncated, and marked as such. Each message has the number of
/// its call. A message of another call than expected means that the ranks are out of step, and nothing can be exchanged
/// any more.
#pragma once

#include <sys/types.h>

#include <cstring>
#include <span>
#include <vector>

#include "mpi/charge.hpp"
#include "node/channel.hpp"
#include "node/node_layout.hpp"
#include "node/node_memory.hpp"
#include "node/regions.hpp"
#include "node/rows.hpp"
#include "node/single_copy.hpp"
#include "node/waiter.hpp"

namespace swapmeet {

struct NodeLink;

/// The sizes, in bytes, from which on messages are announced for a single copy.
struct SingleCopy {
  std::size_t by_kernel_bytes = SIZE_MAX;  ///< from any memory of the sender, if the kernel allows it
  std::size_t of_region_bytes = SIZE_MAX;  ///< from memory in a region
};

/// A message in transfer. The messages between two ranks are processed one after the other, in the order in which their
/// transfers were made.
struct Transfer {
  enum class State : std::uint8_t { data, announced, done };

  static Transfer send(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, const SingleCopy& single_copy,
                       std::uint16_t call = 0);
  static Transfer receive(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, std::uint16_t call = 0);
  /// A message of one piece that goes through a row. It has no turn, because each exchange has one such message in each
  /// direction.
  static Transfer by_rows(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, bool outgoing,
                          std::uint16_t call = 0);
  bool done() const { return state == State::done; }

  /// Size of a receive whose length only the sender knows. When the message begins to arrive, `bytes` becomes its
  /// length, and the transfer waits for pieces with as many bytes.
  static constexpr std::size_t any_size = SIZE_MAX;
  bool wants_memory() const { return !outgoing && pieces.empty() && bytes != any_size && !discards; }

  NodeLink* link = nullptr;
  std::span<const Piece> pieces{};  ///< unchanged until the transfer is done
  std::size_t bytes = 0;            ///< total bytes of the pieces, not 0
  bool outgoing = false;
  bool by_row = false;  ///< by the row, unless the row says that it goes through the channel
  bool copy_by_kernel = false, copy_of_region = false;  ///< use a single copy if possible
  bool cut = false;                                     ///< a longer message arrived and was truncated
  bool failed = false;                                  ///< the sender has no data, and sends none
  bool discards = false;  ///< of a receive: there is no memory for the message, which must be received nonetheless
  bool in_place = false;  ///< of a receive: it overwrites the block for its sender, after that has left
  std::uint16_t call = 0;
  State state = State::data;
  std::uint32_t turn = 0;
  std::size_t moved = 0;              ///< bytes transferred so far
  std::size_t piece = 0, offset = 0;  ///< position of the next byte
};

/// The state that a rank keeps for each rank of its node.
struct NodeLink {
  Outlet out;
  Inlet in;
  const WaiterSlot* waiter_slot = nullptr;
  std::uint32_t member = 0;  ///< number of the other rank within the node
  pid_t process = 0;         ///< process whose memory can be read; 0: it cannot
  std::size_t left = 0;      ///< bytes of the outgoing block that have been copied; `all_left` at its end
  /// the region of the last single copy that was announced, and of the last that was declined, which is not tried again
  std::uint64_t announced_region = 0, refused_region = 0;
  std::size_t refused_bytes = SIZE_MAX;  ///< size of the last message that was announced for a copy by the kernel and
                                         ///< declined
  std::uint32_t refused = 0;             ///< number of messages of that size that were not announced since

  /// Whether the receiver is likely to decline a single copy, as it did for the last message of this size because of
  /// its derived type. Every 64th message of the size is announced nonetheless.
  bool refuses(std::size_t bytes) {
    constexpr std::uint32_t announced_again = 64;
    return bytes == refused_bytes && ++refused % announced_again != 0;
  }

  static constexpr std::size_t all_left = SIZE_MAX;

  struct Turns {
    std::uint32_t made = 0, done = 0;
  } sends{}, receives{};  ///< number of transfers
};

/// Sets up `link`, by which member `me` reaches member `other`, in the shared memory at `memory`.
void connect(NodeLink& link, const NodeLayout& layout, char* memory, std::uint32_t me, std::uint32_t other);

/// The rows of member `me` in the shared memory at `memory`; no rows if the layout has none.
NodeRows rows_in(const NodeLayout& layout, char* memory, std::uint32_t me);

/// The reason for which the ranks of a node cannot exchange anything any more.
enum class Broken : std::int32_t { no, out_of_step, rank_died };

class Node {
 public:
  /// `memory` has layout.bytes() bytes. All of it is reserved; each member has reserved its own bulk, so that it lies
  /// near its cores. `processes`: the process of each member if its memory can be read, otherwise 0. `regions`: other
  /// shared memory.
  Node(NodeMemory memory, const NodeLayout& layout, std::uint32_t me, std::span<const pid_t> processes,
       Regions& regions);

  NodeLink& link(std::uint32_t member) { return links_[member]; }
  NodeRows& rows() { return rows_; }
  Regions& regions() const { return *regions_; }
  Waiter& waiter() { return waiter_; }
  std::size_t shared_bytes() const { return bytes_; }

  /// Sends a small message in `piece` if that is possible at once. If it returns false, the message needs a Transfer.
  bool send_now(NodeLink& link, const Piece& piece, std::uint16_t call) {
    if (piece.bytes > sizeof Cell::payload || link.sends.made != link.sends.done) return false;
    Cell* const cell = link.out.next();
    if (!cell) return false;
    piece.read(0, piece.bytes, cell->payload);
    charge(piece.bytes, ChargeTo::sender);
    link.out.hand_over(*cell, Cell::label(piece.bytes, call), link.in.count());
    link.left = NodeLink::all_left;
    ++link.sends.made;
    ++link.sends.done;
    return true;
  }

  /// Begins an exchange in place: no outgoing block has left yet.
  void begin_in_place() {
    for (NodeLink& link : links_) link.left = 0;
  }

  /// Continues `transfer` as far as possible without waiting, if it is its turn. Returns whether anything has moved.
  bool advance(Transfer& transfer) {
    if (transfer.by_row) return advance_by_row(transfer);
    NodeLink& link = *transfer.link;
    const bool nothing = !transfer.outgoing && !link.in.next();
    if (!nothing && advance_further(transfer)) return true;
    waiter_.waits_for(*link.waiter_slot);
    return false;
  }

  /// Raises the flag of this rank's row. Returns false if that is not possible yet.
  bool raise() {
    if (rows_.raise()) return true;
    if (!rows_.ready()) waiter_.waits_for(*links_[rows_.still_reading()].waiter_slot);
    return false;
  }

  /// Records that this rank waits for the flag of `late`.
  void waits_for(const NodeLink& late) { waiter_.waits_for(*late.waiter_slot); }

  /// Forgets transfers that are not done and of which nothing has moved. They have been given up.
  void forget();

  /// Gives up transfers of which a part may have moved. No rank of the node can exchange anything any more.
  void abandon(Broken why);
  Broken broken() const { return broken_; }

  /// Makes waiting ranks check whether these processes still exist. There is one entry for each member; 0: not known.
  void watch(std::vector<pid_t> processes) { watched_ = std::move(processes); }

  /// Checks whether another rank has abandoned the node or its process has ended. A waiting rank must call this now and
  /// then.
  void look_whether_broken();

 private:
  bool advance_further(Transfer& transfer);
  bool advance_by_row(Transfer& transfer);

  NodeMemory memory_;
  std::size_t bytes_;  ///< total bytes of the shared memory
  std::vector<NodeLink> links_;
  NodeRows rows_;
  Regions* regions_;
  Waiter waiter_;
  Broken broken_ = Broken::no;
  std::vector<pid_t> watched_;
  std::uint32_t looks_ = 0, next_watched_ = 0;
};

}  // namespace swapmeet
