/// Formats in which the sizes of a message's blocks are sent. A message with few nonempty blocks takes only as many
/// bytes for sizes as these blocks need:
///
///   plain   one 4-byte number for each block
///   wide    a 4-byte mark, then one 8-byte number for each block; used if a size does not fit 4 bytes
///   listed  a 4-byte mark; then, as varints, the number of empty blocks that follow, the size of the next nonempty
///           block, and so on until the last block; used if at most half of the blocks are nonempty and this takes
///           fewer bytes than the other form
///   failed  another 4-byte mark, then 8-byte numbers and no data; sent by a rank that has no data because of an error
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/varint.hpp"

namespace swapmeet {

inline constexpr std::uint32_t wide_mark = UINT32_MAX, failed_mark = UINT32_MAX - 1, listed_mark = UINT32_MAX - 2;

inline constexpr std::int64_t number_bytes = sizeof(std::int64_t);
inline constexpr std::int64_t narrow_number_bytes = sizeof(std::uint32_t);

/// Adds up block sizes in the order of the blocks and computes the bytes that the shortest format takes.
class SizeTally {
 public:
  void add(std::int64_t size) {
    ++blocks_;
    if (size == 0) return void(++without_);
    sum_ += size;
    largest_ = std::max(largest_, size);
    ++with_data_;
    listed_ += varint_bytes(without_) + varint_bytes(static_cast<std::uint64_t>(size));
    without_ = 0;
  }

  std::int64_t sum() const { return sum_; }

  /// Whether a size does not fit the plain format.
  bool wide() const { return largest_ >= listed_mark; }
  bool listed() const { return 2 * with_data_ <= blocks_ && listed_bytes() < plain_bytes(); }
  std::int64_t bytes() const { return listed() ? listed_bytes() : plain_bytes(); }

 private:
  std::int64_t plain_bytes() const {
    return wide() ? narrow_number_bytes + number_bytes * blocks_ : narrow_number_bytes * blocks_;
  }
  std::int64_t listed_bytes() const {
    return narrow_number_bytes + listed_ + (without_ > 0 ? varint_bytes(without_) : 0);
  }

  std::int64_t blocks_ = 0, with_data_ = 0, sum_ = 0, largest_ = 0;
  std::int64_t listed_ = 0;    ///< bytes of the list so far
  std::uint64_t without_ = 0;  ///< empty blocks since the last nonempty one
};

/// Returns the largest number of bytes that the sizes of `blocks` blocks can take.
constexpr std::int64_t most_sizes_bytes(std::int64_t blocks) { return narrow_number_bytes + number_bytes * blocks; }

}  // namespace swapmeet
