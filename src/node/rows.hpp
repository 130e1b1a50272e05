/// Exchanges in which every rank of a node sends a block to every other, with one flag per rank. A rank writes all its
/// blocks into its row of shared memory and raises its flag. Then it waits for the flag of each other rank, and reads
/// its block from that rank's row. There are no acknowledgements: each rank uses its rows in turn
/// (engine/rows_in_turn.hpp).
///
///   head   flag | blocks, if they fit                                   all blocks have one size, which all ranks know
///          flag | offset and bytes of each block | blocks, if they fit  otherwise
///   bulk   the other blocks
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
#include "node/fence.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

/// The value of a flag: the number of the exchange, from 1 on; its call; and the bytes of each block, or `listed` or
/// `failed`.
struct RowFlag {
  /// listed: the row lists the sizes; failed: the sender has no data
  static constexpr std::uint64_t listed = UINT16_MAX, failed = UINT16_MAX - 1;

  static std::uint64_t of(std::uint32_t number, std::uint16_t call, std::uint64_t bytes) {
    return number | std::uint64_t{call} << 32 | bytes << 48;
  }
  static std::uint32_t number(std::uint64_t flag) { return static_cast<std::uint32_t>(flag); }
  static std::uint16_t call(std::uint64_t flag) { return static_cast<std::uint16_t>(flag >> 32); }
  static std::uint64_t bytes(std::uint64_t flag) { return flag >> 48; }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

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
    open_up(places_[me_].heads, size_.heads_bytes());
    open_up(places_[me_].bulks, size_.bulks_bytes());
  }

  /// The size of the largest block in a row; 0: there are no rows.
  std::size_t block_bytes() const { return size_.block_bytes; }

  // --- the row of this rank ------------------------------------------------------------------------------------------

  /// Begins the next exchange. `equal_bytes`: the size of every block, at most block_bytes(); 0: each block may have
  /// another size, or be sent through a channel.
  void begin(std::uint16_t call, std::size_t equal_bytes) {
    ++number_;
    flag_ = RowFlag::of(number_, call, equal_bytes > 0 ? equal_bytes : RowFlag::listed);
    equal_bytes_ = equal_bytes;
    deferred_ = 0;
    raised_ = posted_ = fenced_ = false;
    checked_ = std::exchange(seen_, 0) + 1 == size_.members ? size_.members : 0;  // none to check if all were seen
    if (equal_bytes > 0) {
      if (spaced_bytes_ != equal_bytes) spacing_ = size_.spacing(spaced_bytes_ = equal_bytes);
    } else {
      near_bytes_ = size_.table_bytes(), far_bytes_ = 0;
      std::ranges::fill(entries_, RowEntry{});
    }
  }

  /// Whether this rank may write its row. If not, member late() may still read the row.
  bool ready() {
    const RowsInTurn& turns = RowSize::turns;
    for (; checked_ < size_.members; ++checked_)
      if (checked_ != me_ && !turns.allows(number_, RowFlag::number(flag(checked_, number_ - turns.lead))))
        return false;
    return true;
  }
  std::uint32_t late() const { return checked_; }

  /// Writes the block for `member` into the row. Requires ready().
  void write(std::uint32_t member, const Piece& block) {
    fence();
    char* const to = at(me_, place(member, block.bytes));
    open_up(to, block.bytes);
    block.read(0, block.bytes, to);
    charge(block.bytes, false);
  }

  /// defer() records that a block cannot be written yet because the row is not ready(). made_up() records that it was
  /// written later.
  void defer() { ++deferred_; }
  void made_up() { --deferred_; }

  /// send_elsewhere(): the block for `member` is sent through the channel; requires that sizes are listed. fail(): this
  /// rank has no data to send.
  void send_elsewhere(std::uint32_t member) { entries_[index(member, me_)] = {0, RowEntry::elsewhere}; }
  void fail(std::uint32_t member) {
    if (equal_bytes_ == 0) entries_[index(member, me_)] = {0, RowEntry::failed};
    else flag_ = RowFlag::of(number_, RowFlag::call(flag_), RowFlag::failed);  // for all members
  }

  /// Records that all blocks have been written or deferred.
  void posted() { posted_ = true; }

  /// Raises the flag if that is possible. Returns whether it is raised.
  bool raise() {
    if (raised_ || !posted_ || deferred_ > 0 || !ready()) return raised_;
    fence();
    if (equal_bytes_ == 0 && !entries_.empty())
      std::memcpy(head(me_, number_) + sizeof(std::uint64_t), entries_.data(), entries_.size() * sizeof(RowEntry));
    flag_of(me_, number_).store(flag_, std::memory_order_release);
    return raised_ = true;
  }
  bool raised() const { return raised_; }

  /// Records that a raised flag of this exchange was seen, of a rank that was not counted before.
  void has_seen() { ++seen_; }

  /// Gives up the exchange before other ranks have seen any of it.
  void forget() {
    if (!std::exchange(raised_, true)) --number_, seen_ = 0;
  }

  /// Whether the flag of `member` is raised.
  bool is_up(std::uint32_t member) const { return RowFlag::number(flag(member, number_)) == number_; }

  // --- the rows of others --------------------------------------------------------------------------------------------

  /// Reads the block that `member` has written for this rank. Returns false if the flag is late or the block is not as
  /// expected: see look().
  bool read(std::uint32_t member, const Piece& to) {
    const char* from = nullptr;
    if (equal_bytes_ > 0) {
      if (flag(member, number_) != flag_) return false;
      from = at(member, spacing_.offset(index(me_, member)));
    } else {
      const Block block = look(member, RowFlag::call(flag_));
      if (block.state != Block::State::here || block.bytes != to.bytes) return false;
      from = block.address;
    }
    to.write(0, to.bytes, from);
    charge(to.bytes, true);
    has_seen();
    return true;
  }

  /// The block that `member` has written for this rank, once its flag is raised.
  struct Block {
    enum class State : std::uint8_t { late, here, elsewhere, failed, out_of_step } state;
    const char* address = nullptr;
    std::size_t bytes = 0;
  };
  Block look(std::uint32_t member, std::uint16_t call) const {
    const std::uint64_t theirs = flag(member, number_);
    if (RowFlag::number(theirs) != number_) return {Block::State::late};
    if (RowFlag::call(theirs) != call) return {Block::State::out_of_step};
    const std::uint32_t n = index(me_, member);
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
  /// The index of `member` among the members that `of` writes to.
  static std::uint32_t index(std::uint32_t member, std::uint32_t of) { return member - (member > of); }

  char* head(std::uint32_t member, std::uint32_t number) const {
    return places_[member].heads + RowSize::turns.row(number) * size_.head_bytes();
  }
  std::atomic<std::uint64_t>& flag_of(std::uint32_t member, std::uint32_t number) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(head(member, number));
  }
  std::uint64_t flag(std::uint32_t member, std::uint32_t number) const {
    return flag_of(member, number).load(std::memory_order_acquire);
  }

  /// Before the first write to the row: marks all room for blocks as inaccessible for AddressSanitizer. write() unmarks
  /// the block that it writes.
  void fence() {
    if (!fences || std::exchange(fenced_, true)) return;
    const std::size_t table = equal_bytes_ > 0 ? RowSize::flag_bytes : size_.table_bytes();
    open_up(at(me_, 0), table);
    fence_off(at(me_, table), size_.head_bytes() - table);
    fence_off(at(me_, size_.head_bytes()), size_.bulk_bytes());
  }

  /// The address of an offset in the row of this exchange.
  char* at(std::uint32_t member, std::size_t offset) const {
    if (offset < size_.head_bytes()) return head(member, number_) + offset;
    return places_[member].bulks + RowSize::turns.row(number_) * size_.bulk_bytes() + (offset - size_.head_bytes());
  }

  /// Chooses the offset of the block for `member`, and records it if the row has a list.
  std::size_t place(std::uint32_t member, std::size_t bytes) {
    const std::uint32_t n = index(member, me_);
    if (equal_bytes_ > 0) return spacing_.offset(n);
    std::size_t offset = RowSize::aligned(near_bytes_, 8);
    if (offset + bytes <= size_.head_bytes()) {
      near_bytes_ = offset + bytes;
    } else {
      offset = RowSize::aligned(far_bytes_, std::min(RowSize::apart(bytes), RowSize::line));
      far_bytes_ = offset + bytes;
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
  std::uint32_t checked_ = 0;      ///< members up to this one do not read the old content of this rank's row any more
  std::uint32_t seen_ = 0;         ///< number of flags of this exchange that were seen
  std::uint32_t deferred_ = 0;     ///< number of blocks
  std::uint64_t flag_ = 0;         ///< flag of this rank
  std::size_t equal_bytes_ = 0, spaced_bytes_ = 0;
  RowSize::Spacing spacing_{};                  ///< for blocks of spaced_bytes_
  std::size_t near_bytes_ = 0, far_bytes_ = 0;  ///< bytes in use in the head and in the bulk if sizes are listed
  bool posted_ = false, raised_ = true, fenced_ = false;
};

}  // namespace swapmeet
