/// How the sizes of a message's blocks are sent, so that the bytes for them are as many as there are blocks with data,
/// where these are few:
///
///   plain   numbers of 4 bytes, one for each block
///   wide    a mark of 4 bytes, and numbers of 8: where a size does not fit 4
///   listed  a mark of 4 bytes; then, as varints, how many blocks without data come next, the size of the one behind
///           these, and so on until all blocks are told of: where at most half of the blocks have data and it is shorter
///   failed  another mark, numbers of 8 bytes, and nothing else: a sender that has no data, for something failed
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/varint.hpp"

namespace swapmeet {

inline constexpr std::uint32_t wide_mark = UINT32_MAX, failed_mark = UINT32_MAX - 1, listed_mark = UINT32_MAX - 2;

inline constexpr std::int64_t number_bytes = sizeof(std::int64_t);
inline constexpr std::int64_t narrow_number_bytes = sizeof(std::uint32_t);

/// The sizes of a message's blocks, as they are seen one after the other: what they take in the shortest form.
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

  /// Whether numbers of 4 bytes, one for each block, do not do.
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
  std::uint64_t without_ = 0;  ///< blocks without data since the last one with
};

/// The most that the sizes of so many blocks take.
constexpr std::int64_t most_sizes_bytes(std::int64_t blocks) { return narrow_number_bytes + number_bytes * blocks; }

}  // namespace swapmeet
