/// Exchanges in which every rank of a node writes to every other, by one flag for each rank: a rank writes all its blocks
/// into its row of shared memory and raises its flag; then it waits for the flag of each other rank and reads its block
/// out of their rows. Nothing is acknowledged: rows are used in turn (engine/rows_in_turn.hpp).
///
///   head   number of the exchange (the flag) | its call | bytes of each block | blocks, if they fit
///          number of the exchange (the flag) | its call | listed | entries: offset and bytes of each block | blocks, if they fit
///   bulk   the other blocks
///
/// Blocks of one size, as all ranks know it, need no entries: eight ranks exchange 8 bytes each by one cache line for
/// each rank, where a channel for each pair takes one for each pair. Heads of all ranks lie together, in few pages.
///
/// A block that is too large for a row travels by the channel of the two ranks. The sender alone decides, and says so
/// in the entry. The flag is raised in each exchange all the same.
///
/// Cost     P-1 writes, one flag, P-1 flags and blocks read; at 8 B, P lines are written and P(P-1) read, in P <= 8
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/rows_in_turn.hpp"
#include "mpi/charge.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

struct RowHead {
  static constexpr std::uint16_t listed = UINT16_MAX, failed = UINT16_MAX - 1;

  std::atomic<std::uint32_t> number;  ///< of the exchange, from 1 on
  std::uint16_t call;
  std::uint16_t block_bytes;  ///< or one of the above: `failed`: the sender has no data
};
static_assert(sizeof(RowHead) == 8);

struct RowEntry {
  static constexpr std::uint32_t failed = 1u << 31, elsewhere = 1u << 30;  ///< by the channel

  std::uint32_t offset;  ///< from the head on, where that ends in the bulk
  std::uint32_t bytes;   ///< or one of the above; 0: the block is empty
};

/// Sizes of the rows of a node.
struct RowSize {
  std::uint32_t members = 1;
  std::uint32_t block_bytes = 0;  ///< the largest block of a row, whole cache lines; 0: there are no rows

  static constexpr RowsInTurn turns{};
  static constexpr std::size_t line = 64;

  /// Of one row.
  std::size_t head_bytes() const { return aligned(table_bytes(), line); }
  std::size_t bulk_bytes() const { return std::size_t{members - 1} * block_bytes + line; }

  /// Of all rows of a rank.
  std::size_t heads_bytes() const { return block_bytes == 0 ? 0 : turns.rows * head_bytes(); }
  std::size_t bulks_bytes() const { return block_bytes == 0 ? 0 : turns.rows * bulk_bytes(); }

  std::size_t table_bytes() const { return sizeof(RowHead) + (members - 1) * sizeof(RowEntry); }

  static constexpr std::size_t aligned(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

  /// Where the n-th of blocks of one size is: in the head, if all fit, else in the bulk; as RowEntry::offset.
  std::size_t offset(std::size_t bytes, std::uint32_t n) const {
    const std::size_t near = aligned(bytes, 8);
    if (sizeof(RowHead) + (members - 1) * near <= head_bytes()) return sizeof(RowHead) + n * near;
    return head_bytes() + n * apart(bytes);
  }

  /// From one block in the bulk to the next: so that none touches more lines than it must.
  static std::size_t apart(std::size_t bytes) {
    if (bytes > line / 2) return aligned(bytes, line);
    std::size_t least = 8;
    while (least < bytes) least *= 2;
    return least;
  }
};

/// Where the rows of each rank of a node are.
struct RowPlace {
  char *heads, *bulks;
};

/// The rows of a node, for one of its ranks: one exchange at a time.
class NodeRows {
 public:
  NodeRows() = default;  ///< there are none
  /// `places`: of each member; all of it is zero at first.
  NodeRows(const RowSize& size, std::uint32_t me, std::vector<RowPlace> places)
      : size_(size), me_(me), places_(std::move(places)), entries_(size.members - 1) {}

  /// The largest block of a row; 0: there are no rows.
  std::size_t block_bytes() const { return size_.block_bytes; }

  /// The next exchange begins. `equal_bytes`: of each block, block_bytes() at most; 0: each may have another size, or
  /// travel by a channel.
  void begin(std::uint16_t call, std::size_t equal_bytes) {
    ++number_;
    call_ = call;
    equal_bytes_ = static_cast<std::uint32_t>(equal_bytes);
    near_bytes_ = size_.table_bytes();
    far_bytes_ = 0;
    deferred_ = 0;
    raised_ = posted_ = failed_ = false;
    checked_ = std::exchange(seen_, 0) + 1 == size_.members ? size_.members : 0;  // all flags of the exchange before
    if (equal_bytes_ == 0) std::ranges::fill(entries_, RowEntry{});
  }

  /// Whether this rank may write its row. If not, late() may still read there.
  bool ready() {
    const std::uint32_t needed = RowSize::turns.seen_before(number_);
    for (; checked_ < size_.members; ++checked_)
      if (checked_ != me_ && static_cast<std::int32_t>(flag(checked_, needed) - needed) < 0) return false;
    return true;
  }
  std::uint32_t late() const { return checked_; }

  /// Writes the block for `member`. Requires ready().
  void write(std::uint32_t member, const Piece& block) {
    const std::size_t offset = place(member, block.bytes);
    std::memcpy(offset < size_.head_bytes() ? reinterpret_cast<char*>(&head(me_, number_)) + offset
                                            : bulk(me_, number_) + (offset - size_.head_bytes()),
                block.address, block.bytes);
    charge(block.bytes, false);
  }

  /// The block for `member` is not ready() to be written yet; and then it has been.
  void defer() { ++deferred_; }
  void made_up() { --deferred_; }

  /// The block for `member` travels by the channel; or this rank has no data to send.
  void send_elsewhere(std::uint32_t member) { entries_[index(member, me_)] = {0, RowEntry::elsewhere}; }
  void fail(std::uint32_t member) {
    if (equal_bytes_ > 0) failed_ = true;  // where nothing is listed, all blocks
    else entries_[index(member, me_)] = {0, RowEntry::failed};
  }

  /// All blocks are written or deferred, from now on.
  void posted() { posted_ = true; }

  bool raised() const { return raised_; }

  /// Raises the flag, as soon as that can be. Returns whether it is up.
  bool raise() {
    if (raised_ || !posted_ || deferred_ > 0 || !ready()) return raised_;
    RowHead& own = head(me_, number_);
    own.call = call_;
    own.block_bytes = failed_ ? RowHead::failed : equal_bytes_ > 0 ? static_cast<std::uint16_t>(equal_bytes_) : RowHead::listed;
    if (equal_bytes_ == 0) std::memcpy(static_cast<void*>(&own + 1), entries_.data(), entries_.size() * sizeof(RowEntry));
    own.number.store(number_, std::memory_order_release);
    return raised_ = true;
  }

  /// The exchange is given up before anything of it was seen by others.
  void forget() {
    if (!std::exchange(raised_, true)) --number_, seen_ = 0;
  }

  /// What `member` has written for this rank, once its flag is up.
  struct Block {
    enum class State : std::uint8_t { late, here, elsewhere, failed, out_of_step } state;
    const char* address = nullptr;
    std::size_t bytes = 0;
  };
  Block look(std::uint32_t member, std::uint16_t call) {
    const RowHead& theirs = head(member, number_);
    if (theirs.number.load(std::memory_order_acquire) != number_) return {Block::State::late};
    ++seen_;
    if (theirs.call != call) [[unlikely]] return {Block::State::out_of_step};
    std::size_t bytes = theirs.block_bytes, offset = 0;
    const std::uint32_t n = index(me_, member);
    if (bytes == RowHead::failed) [[unlikely]] return {Block::State::failed};
    if (bytes != RowHead::listed) {
      offset = size_.offset(bytes, n);
    } else {
      RowEntry entry;
      std::memcpy(&entry, reinterpret_cast<const char*>(&theirs + 1) + n * sizeof entry, sizeof entry);
      if (entry.bytes == RowEntry::elsewhere) return {Block::State::elsewhere};
      if (entry.bytes == RowEntry::failed) [[unlikely]] return {Block::State::failed};
      offset = entry.offset, bytes = entry.bytes;
    }
    const char* const near = reinterpret_cast<const char*>(&theirs);
    return {Block::State::here, offset < size_.head_bytes() ? near + offset : bulk(member, number_) + (offset - size_.head_bytes()), bytes};
  }

 private:
  /// The number of `member` among those that `of` writes to.
  static std::uint32_t index(std::uint32_t member, std::uint32_t of) { return member < of ? member : member - 1; }

  RowHead& head(std::uint32_t member, std::uint32_t number) const {
    return *reinterpret_cast<RowHead*>(places_[member].heads + RowSize::turns.row(number) * size_.head_bytes());
  }
  char* bulk(std::uint32_t member, std::uint32_t number) const {
    return places_[member].bulks + RowSize::turns.row(number) * size_.bulk_bytes();
  }
  std::uint32_t flag(std::uint32_t member, std::uint32_t number) const {
    return head(member, number).number.load(std::memory_order_acquire);
  }

  /// Where the block for `member` is to be; notes it, if there is a list.
  std::size_t place(std::uint32_t member, std::size_t bytes) {
    const std::uint32_t n = index(member, me_);
    if (equal_bytes_ > 0) return size_.offset(bytes, n);
    std::size_t& used = near_bytes_ + bytes <= size_.head_bytes() ? near_bytes_ : far_bytes_;
    const std::size_t offset = RowSize::aligned(used, &used == &near_bytes_ ? 8 : std::min(RowSize::apart(bytes), RowSize::line));
    used = offset + bytes;
    entries_[n] = {static_cast<std::uint32_t>(&used == &near_bytes_ ? offset : size_.head_bytes() + offset), static_cast<std::uint32_t>(bytes)};
    return entries_[n].offset;
  }

  RowSize size_;
  std::uint32_t me_ = 0;
  std::vector<RowPlace> places_;
  std::vector<RowEntry> entries_;  ///< of this rank's row
  std::uint32_t number_ = 0;       ///< of the exchange
  std::uint32_t checked_ = 0;      ///< members that are known not to read any more what this rank's row held before
  std::uint32_t seen_ = 0;         ///< flags of this exchange
  std::uint32_t deferred_ = 0;     ///< blocks
  std::uint32_t equal_bytes_ = 0;
  std::size_t near_bytes_ = 0, far_bytes_ = 0;  ///< of the head and the bulk, where blocks are listed
  std::uint16_t call_ = 0;
  bool posted_ = false, raised_ = true, failed_ = false;
};

}  // namespace swapmeet
