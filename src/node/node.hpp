/// Messages between the ranks of a node, without MPI: through cells of a shared segment (two copies, no system call),
/// or by a single copy from the memory of the sender. Messages from one rank to another arrive in order; a message
/// without data is not to be sent.
///
/// One thread at a time. Not collective: what a rank sends and another receives must agree, as in MPI; but a message
/// that is longer than expected is cut, and marked. Each message has the number of its call: one of another call than
/// expected means that the ranks are out of step, and nothing can be exchanged any more.
#pragma once

#include <sys/types.h>

#include <cstring>
#include <span>
#include <vector>

#include "mpi/charge.hpp"
#include "node/channel.hpp"
#include "node/regions.hpp"
#include "node/node_memory.hpp"
#include "node/rows.hpp"
#include "node/single_copy.hpp"
#include "node/waiter.hpp"

namespace swapmeet {

struct NodeLink;

/// Messages of so many bytes and more are offered for a single copy.
struct SingleCopy {
  std::size_t by_kernel_bytes = SIZE_MAX;  ///< out of any memory of their sender, if the kernel allows it
  std::size_t of_region_bytes = SIZE_MAX;  ///< out of a region
};

/// A message on its way. Those between two ranks have turns, in the order in which they were made.
struct Transfer {
  enum class State : std::uint8_t { data, offered, done };

  static Transfer send(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, const SingleCopy& single_copy,
                       std::uint16_t call = 0);
  static Transfer receive(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, std::uint16_t call = 0);
  /// Of one piece, by rows; without a turn, for there is one each way in an exchange.
  static Transfer by_rows(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, bool outgoing,
                          std::uint16_t call = 0);
  bool done() const { return state == State::done; }

  /// A message of any_size has begun to arrive: `bytes` says how many it has, and waits for pieces that hold as many.
  static constexpr std::size_t any_size = SIZE_MAX;
  bool wants_memory() const { return !outgoing && pieces.empty() && bytes != any_size && !discards; }

  NodeLink* link = nullptr;
  std::span<const Piece> pieces{};  ///< unchanged until it is done
  std::size_t bytes = 0;            ///< of the pieces, not 0
  bool outgoing = false;
  bool by_row = false;                                  ///< unless the row says that it travels by the channel
  bool copy_by_kernel = false, copy_of_region = false;  ///< offer it so, if it can be
  bool cut = false;                                     ///< a message of more bytes arrived
  bool failed = false;                                  ///< its sender has no data: none is sent
  bool discards = false;  ///< of a message received: there is no room for it; it is to arrive nonetheless
  bool in_place = false;  ///< of a message received: it takes the place of what goes to its sender, once that has left
  std::uint16_t call = 0;
  State state = State::data;
  std::uint32_t turn = 0;
  std::size_t moved = 0;              ///< bytes so far
  std::size_t piece = 0, offset = 0;  ///< the next byte
};

/// What a rank has in common with another one of its node.
struct NodeLink {
  Outlet out;
  Inlet in;
  const WaiterSlot* waiter_slot = nullptr;
  std::uint32_t member = 0;  ///< the other one
  pid_t process = 0;         ///< whose memory can be read; 0: it cannot
  std::size_t left = 0;      ///< bytes of what goes there that are copied; at its end `all_left`
  /// the region of the last offer, and the one of the last that was refused: not to be offered again
  std::uint64_t offered_region = 0, refused_region = 0;
  std::size_t refused_bytes = SIZE_MAX;  ///< of the message that the kernel was to copy, and the receiver refused last
  std::uint32_t refused = 0;             ///< messages of as many bytes that were not offered since

  /// Whether a message is likely to be refused as the last one was, for its receiver has a derived type, too.
  bool refuses(std::size_t bytes) {
    constexpr std::uint32_t offered_again = 64;
    return bytes == refused_bytes && ++refused % offered_again != 0;
  }

  static constexpr std::size_t all_left = SIZE_MAX;

  struct Turns {
    std::uint32_t made = 0, done = 0;
  } sends{}, receives{};  ///< transfers
};

/// Where everything is in the memory of a node: its header; the seats of all ranks, and the heads of their rows; for each
/// rank the acknowledgements that it writes and the cells that it fills, for all the others; then for each rank the bulk
/// of these cells, and of its rows.
struct NodeLayout {
  std::uint32_t members = 1;
  ChannelSize channel;
  std::uint32_t row_block_bytes = 0;  ///< see RowSize

  RowSize rows() const { return {members, row_block_bytes}; }
  static std::size_t waiter_slot(std::uint32_t member) { return sizeof(PartHeader) + member * sizeof(WaiterSlot); }
  std::size_t row_heads(std::uint32_t member) const { return waiter_slot(members) + member * rows().heads_bytes(); }
  std::size_t acknowledgements(std::uint32_t member) const {
    return row_heads(members) +
           std::size_t{member} * members * (sizeof(Acknowledgement) + channel.cells * sizeof(Cell));
  }
  std::size_t cells(std::uint32_t member) const { return acknowledgements(member) + members * sizeof(Acknowledgement); }
  std::size_t bulk(std::uint32_t member) const;  ///< on a page boundary
  std::size_t row_bulks(std::uint32_t member) const { return bulk(member) + cell_bulk_bytes(); }
  std::size_t bytes() const { return bulk(members); }

  /// Makes all of it 0 that a rank may read before another one has written it, behind the header. The seats stay as they are, for
  /// each rank writes its own. By one rank, before any of them exchanges anything.
  void clear(char* memory) const;

  /// Channels as large as they are useful, such that the whole takes `most_bytes` at most. Nothing fits: channel.cells
  /// is 0.
  static NodeLayout within(std::uint32_t members, std::size_t most_bytes);

 private:
  /// Of a rank.
  std::size_t cell_bulk_bytes() const { return std::size_t{members} * channel.cells * channel.bulk_bytes; }
};

/// Gives `link`, which member `me` has to `other`, its cells in the segment mapped at `memory`.
void connect(NodeLink& link, const NodeLayout& layout, char* memory, std::uint32_t me, std::uint32_t other);

/// The rows of member `me` in the segment mapped at `memory`; none, if the layout has none.
NodeRows rows_in(const NodeLayout& layout, char* memory, std::uint32_t me);

/// Why the ranks of a node exchange nothing any more.
enum class Broken : std::int32_t { no, out_of_step, rank_died };

class Node {
 public:
  /// `memory` has layout.bytes(), all reserved: each member its bulk, so that it lies near its cores.
  /// `processes`: of each member, or 0. `regions`: shared memory besides.
  Node(NodeMemory memory, const NodeLayout& layout, std::uint32_t me, std::span<const pid_t> processes,
       Regions& regions);

  NodeLink& link(std::uint32_t member) { return links_[member]; }
  NodeRows& rows() { return rows_; }
  Regions& regions() const { return *regions_; }
  Waiter& waiter() { return waiter_; }
  std::size_t shared_bytes() const { return bytes_; }

  /// Sends a small message that is all in `piece`, if that can be done now. False: it is to be a Transfer.
  bool send_now(NodeLink& link, const Piece& piece, std::uint16_t call) {
    if (piece.bytes > sizeof Cell::payload || link.sends.made != link.sends.done) return false;
    Cell* const cell = link.out.next();
    if (!cell) return false;
    piece.read(0, piece.bytes, cell->payload);
    charge(piece.bytes, false);
    link.out.hand_over(*cell, Cell::label(piece.bytes, call), link.in.count());
    link.left = NodeLink::all_left;
    ++link.sends.made;
    ++link.sends.done;
    return true;
  }

  /// An exchange in place begins: nothing of it has left.
  void begin_in_place() {
    for (NodeLink& link : links_) link.left = 0;
  }

  /// Does what can be done for `transfer` now, if it is its turn. Returns whether anything could.
  bool advance(Transfer& transfer) {
    if (transfer.by_row) return advance_by_row(transfer);
    NodeLink& link = *transfer.link;
    const bool nothing = !transfer.outgoing && !link.in.next();
    if (!nothing && advance_further(transfer)) return true;
    waiter_.waits_for(*link.waiter_slot);
    return false;
  }

  /// Raises the flag of this rank's row. False: that cannot be yet.
  bool raise() {
    if (rows_.raise()) return true;
    if (!rows_.ready()) waiter_.waits_for(*links_[rows_.late()].waiter_slot);
    return false;
  }

  /// For a flag that is not up.
  void waits_for(const NodeLink& late) { waiter_.waits_for(*late.waiter_slot); }

  /// Transfers have been given up: those that are not done; nothing of them has moved.
  void forget();

  /// The same where some may have moved: nothing can be exchanged any more, by no rank of the node.
  void abandon(Broken why);
  Broken broken() const { return broken_; }

  /// From now on, who waits looks whether these are still there: the process of each member, 0 where that cannot be known.
  void watch(std::vector<pid_t> processes) { watched_ = std::move(processes); }

  /// Whether another rank has abandoned the node, or its process has ended: to be asked now and then by who waits.
  void look_whether_broken();

 private:
  bool advance_further(Transfer& transfer);
  bool advance_by_row(Transfer& transfer);

  NodeMemory memory_;
  std::size_t bytes_;  ///< of it
  std::vector<NodeLink> links_;
  NodeRows rows_;
  Regions* regions_;
  Waiter waiter_;
  Broken broken_ = Broken::no;
  std::vector<pid_t> watched_;
  std::uint32_t looks_ = 0, next_watched_ = 0;
};

}  // namespace swapmeet
