/// Exchanges in which every rank of a node sends a block to every other, with one flag per rank. A rank writes all its
/// blocks into its row of shared memory and raises its flag. Then it waits for the flag of each other rank, and reads
/// its block from that rank's row. There are no acknowledgements: each rank has two buffers, called rows, and uses them
/// alternately (engine/rows_in_turn.hpp). A row has two parts:
///
///   head   flag | blocks                                   equal sizes: all blocks have one size, known to all ranks
///          flag | offset and bytes of each block | blocks  listed sizes: otherwise
///   bulk   blocks
///
/// Blocks of equal sizes are all in the head if all fit there, and else all in the bulk. Of listed blocks, each is in
/// the head if it fits into the rest of the head.
///
/// The heads of all ranks lie together, in few pages. This matters if ranks share cores: a rank that gets the core
/// again finds its entries in the TLB replaced.
///
/// A block that is too large for a row is sent through the channel of the two ranks. The sender alone decides that, and
/// records it in the row. The flag is raised in each exchange all the same.
///
/// Cost     Each rank writes P-1 blocks, raises one flag, and reads P-1 flags and blocks. At 8 B, eight ranks write 8
///          cache lines in all, while channels take 112.               [checked by tests/transport/transport_test.py]
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/row_size.hpp"
#include "mpi/charge.hpp"
#include "node/poison.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

/// The value of a flag: the number of the exchange, from 1 on; the number of its call, by which ranks that make
/// different calls notice it; and the bytes of each block, or `listed` or `failed`.
struct RowFlag {
  /// listed: the row lists the sizes; failed: the sender has no data
  static constexpr std::uint64_t listed = UINT16_MAX, failed = UINT16_MAX - 1;

  static std::uint64_t packed(std::uint32_t number, std::uint16_t call, std::uint64_t bytes) {
    return number | std::uint64_t{call} << 32 | bytes << 48;
  }
  static std::uint32_t number(std::uint64_t flag) { return static_cast<std::uint32_t>(flag); }
  static std::uint16_t call(std::uint64_t flag) { return static_cast<std::uint16_t>(flag >> 32); }
  static std::uint64_t bytes(std::uint64_t flag) { return flag >> 48; }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(RowSize::most_block_bytes < RowFlag::failed, "a size in a flag differs from the markers");

struct RowEntry {
  /// failed: as in RowFlag; elsewhere: the block is sent through the channel
  static constexpr std::uint32_t failed = 1u << 31, elsewhere = 1u << 30;

  std::uint32_t offset;
  std::uint32_t bytes;  ///< bytes of the block, 0 if it is empty, or `failed` or `elsewhere`
};

/// The memory of the rows of one rank.
struct RowPlace {
  char *heads, *bulks;
};

/// The rows of a node as one of its ranks uses them, for one exchange at a time.
class NodeRows {
 public:
  NodeRows() = default;  ///< no rows
  /// `places`: the rows of each member; all of their memory must be zero at first.
  NodeRows(const RowSize& size, std::uint32_t me, std::vector<RowPlace> places)
      : size_(size), me_(me), places_(std::move(places)), entries_(size.members - 1) {}
  NodeRows(NodeRows&&) = default;
  NodeRows& operator=(NodeRows&&) = default;
  ~NodeRows() {
    if (places_.empty()) return;
    // The memory may be used for something else from now on.
    unpoison(places_[me_].heads, size_.heads_bytes());
    unpoison(places_[me_].bulks, size_.bulks_bytes());
  }

  /// The size of the largest block in a row; 0: there are no rows.
  std::size_t block_bytes() const { return size_.block_bytes; }

  // --- the row of this rank ------------------------------------------------------------------------------------------

  /// Begins the next exchange. `equal_bytes`: the size of every block, at most block_bytes(); 0: each block may have
  /// its own size, or be sent through a channel. `call`: number of the call that the exchange belongs to.
  void begin(std::uint16_t call, std::size_t equal_bytes) {
    ++number_;
    my_flag_ = RowFlag::packed(number_, call, equal_bytes > 0 ? equal_bytes : RowFlag::listed);
    equal_bytes_ = equal_bytes;
    deferred_ = 0;
    raised_ = posted_ = poisoned_ = false;
    // If all flags of the exchange before were seen, ready() has no member to check.
    const bool saw_all = seen_ + 1 == size_.members;
    checked_ = saw_all ? size_.members : 0;
    seen_ = 0;
    if (equal_bytes > 0) {
      if (spaced_bytes_ != equal_bytes) {
        spacing_ = size_.spacing(equal_bytes);
        spaced_bytes_ = equal_bytes;
      }
    } else {
      used_of_head_ = size_.table_bytes(), used_of_bulk_ = 0;
      std::ranges::fill(entries_, RowEntry{});
    }
  }

  /// Whether this rank may write its row. If not, member still_reading() may still read the row.
  bool ready() {
    const RowsInTurn& turns = RowSize::turns;
    for (; checked_ < size_.members; ++checked_)
      if (checked_ != me_ && !turns.allows(number_, RowFlag::number(load_flag(checked_, number_ - turns.lead))))
        return false;
    return true;
  }
  std::uint32_t still_reading() const { return checked_; }

  /// Writes the block for `member` into the row. Requires ready().
  void write(std::uint32_t member, const Piece& block) {
    poison_row_once();
    char* const to = at(me_, place(member, block.bytes));
    unpoison(to, block.bytes);
    block.read(0, block.bytes, to);
    charge(block.bytes, ChargeTo::sender);
  }

  /// defer() records that a block cannot be written yet because the row is not ready(). undefer() records that it was
  /// written later.
  void defer() { ++deferred_; }
  void undefer() { --deferred_; }

  /// Records that the block for `member` is sent through the channel. Requires that sizes are listed.
  void mark_elsewhere(std::uint32_t member) { entries_[slot(member, me_)] = {0, RowEntry::elsewhere}; }
  /// Records that this rank has no data for `member`, or, if sizes are equal, for any member.
  void mark_failed(std::uint32_t member) {
    if (equal_bytes_ == 0) entries_[slot(member, me_)] = {0, RowEntry::failed};
    else my_flag_ = RowFlag::packed(number_, RowFlag::call(my_flag_), RowFlag::failed);
  }

  /// Records that all blocks have been written or deferred.
  void mark_posted() { posted_ = true; }

  /// Raises the flag if that is possible. Returns whether it is raised.
  bool raise() {
    if (raised_ || !posted_ || deferred_ > 0 || !ready()) return raised_;
    poison_row_once();
    if (equal_bytes_ == 0 && !entries_.empty())
      std::memcpy(head(me_, number_) + sizeof(std::uint64_t), entries_.data(), entries_.size() * sizeof(RowEntry));
    flag_cell(me_, number_).store(my_flag_, std::memory_order_release);
    return raised_ = true;
  }
  bool raised() const { return raised_; }

  /// Counts a raised flag of this exchange that was seen, of a rank that was not counted before.
  void count_seen() { ++seen_; }

  /// Gives up the exchange, unless its flag is raised: then other ranks may have seen it already.
  void forget() {
    if (!std::exchange(raised_, true)) --number_, seen_ = 0;
  }

  /// Whether the flag of `member` is raised.
  bool is_up(std::uint32_t member) const { return RowFlag::number(load_flag(member, number_)) == number_; }

  // --- the rows of others --------------------------------------------------------------------------------------------

  /// Reads the block that `member` has written for this rank, and counts the flag as seen. Returns false if the flag is
  /// not raised or the block is not as expected. Then the caller must call look() until the flag is raised, and
  /// count_seen().
  bool read(std::uint32_t member, const Piece& to) {
    const char* from = nullptr;
    if (equal_bytes_ > 0) {
      // All ranks raise the same flag if nothing is wrong, so this rank's own is the expected one.
      if (load_flag(member, number_) != my_flag_) return false;
      from = at(member, spacing_.offset(slot(me_, member)));
    } else {
      const Block block = look(member, RowFlag::call(my_flag_));
      if (block.state != Block::State::here || block.bytes != to.bytes) return false;
      from = block.address;
    }
    to.write(0, to.bytes, from);
    charge(to.bytes, ChargeTo::receiver);
    count_seen();
    return true;
  }

  /// The block that `member` has written for this rank, once its flag is raised. out_of_step: its flag is that of
  /// another call.
  struct Block {
    enum class State : std::uint8_t { not_raised, here, elsewhere, failed, out_of_step } state;
    const char* address = nullptr;
    std::size_t bytes = 0;
  };
  Block look(std::uint32_t member, std::uint16_t call) const {
    const std::uint64_t theirs = load_flag(member, number_);
    if (RowFlag::number(theirs) != number_) return {Block::State::not_raised};
    if (RowFlag::call(theirs) != call) return {Block::State::out_of_step};
    const std::uint32_t n = slot(me_, member);
    const std::uint64_t bytes = RowFlag::bytes(theirs);
    if (bytes == RowFlag::failed) return {Block::State::failed};
    if (bytes != RowFlag::listed) return {Block::State::here, at(member, size_.spacing(bytes).offset(n)), bytes};
    RowEntry entry;
    std::memcpy(&entry, head(member, number_) + sizeof(std::uint64_t) + n * sizeof entry, sizeof entry);
    if (entry.bytes == RowEntry::elsewhere) return {Block::State::elsewhere};
    if (entry.bytes == RowEntry::failed) return {Block::State::failed};
    return {Block::State::here, at(member, entry.offset), entry.bytes};
  }

 private:
  /// The index of the block for `reader` in the row of `writer`, which has none for itself.
  static std::uint32_t slot(std::uint32_t reader, std::uint32_t writer) { return reader - (reader > writer); }

  char* head(std::uint32_t member, std::uint32_t number) const {
    return places_[member].heads + RowSize::turns.row(number) * size_.head_bytes();
  }
  std::atomic<std::uint64_t>& flag_cell(std::uint32_t member, std::uint32_t number) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(head(member, number));
  }
  std::uint64_t load_flag(std::uint32_t member, std::uint32_t number) const {
    return flag_cell(member, number).load(std::memory_order_acquire);
  }

  /// Before the first write to the row in an exchange: marks all room for blocks as inaccessible for AddressSanitizer,
  /// which then reports writes beyond a block. write() unmarks the block that it writes.
  void poison_row_once() {
    if (!poisons || std::exchange(poisoned_, true)) return;
    const std::size_t table = equal_bytes_ > 0 ? RowSize::flag_bytes : size_.table_bytes();
    unpoison(at(me_, 0), table);
    poison(at(me_, table), size_.head_bytes() - table);
    poison(at(me_, size_.head_bytes()), size_.bulk_bytes());
  }

  /// The address of an offset in the row of this exchange.
  char* at(std::uint32_t member, std::size_t offset) const {
    if (offset < size_.head_bytes()) return head(member, number_) + offset;
    return places_[member].bulks + RowSize::turns.row(number_) * size_.bulk_bytes() + (offset - size_.head_bytes());
  }

  /// Chooses the offset of the block for `member`, and records it if the row has a list.
  std::size_t place(std::uint32_t member, std::size_t bytes) {
    const std::uint32_t n = slot(member, me_);
    if (equal_bytes_ > 0) return spacing_.offset(n);
    std::size_t offset = RowSize::aligned(used_of_head_, 8);
    if (offset + bytes <= size_.head_bytes()) {
      used_of_head_ = offset + bytes;
    } else {
      offset = RowSize::aligned(used_of_bulk_, std::min(RowSize::apart(bytes), RowSize::line));
      used_of_bulk_ = offset + bytes;
      offset += size_.head_bytes();
    }
    entries_[n] = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)};
    return offset;
  }

  RowSize size_;
  std::uint32_t me_ = 0;
  std::vector<RowPlace> places_;
  std::vector<RowEntry> entries_;  ///< the list of this rank's row
  std::uint32_t number_ = 0;       ///< number of the exchange
  std::uint32_t checked_ = 0;      ///< members below this index do not read the old content of this rank's row any more
  std::uint32_t seen_ = 0;         ///< number of flags of this exchange that were seen
  std::uint32_t deferred_ = 0;     ///< number of blocks
  std::uint64_t my_flag_ = 0;      ///< of the current exchange
  std::size_t equal_bytes_ = 0;    ///< 0: sizes are listed
  std::size_t spaced_bytes_ = 0;
  RowSize::Spacing spacing_{};                       ///< for blocks of spaced_bytes_
  std::size_t used_of_head_ = 0, used_of_bulk_ = 0;  ///< bytes in use if sizes are listed
  bool raised_ = true;                               ///< also true before the first exchange and after forget()
  bool posted_ = false, poisoned_ = false;
};

}  // namespace swapmeet
