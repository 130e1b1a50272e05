/// Encoding and decoding of block sizes in messages. The format is described in schedule/size_format.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "schedule/size_format.hpp"

namespace swapmeet {

template <class Number>
char* write_number(char* to, std::int64_t number) {
  const auto value = static_cast<Number>(number);
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

template <class Number>
std::int64_t read_number(const char* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<std::int64_t>(value);
}

/// Writes the sizes of `count` blocks and returns the end of what it wrote. size(i) is the size of block i; `tally` has
/// counted the same sizes. `failed`: the blocks themselves do not follow.
template <class Size>
char* write_sizes(char* to, std::uint32_t count, const SizeTally& tally, bool failed, Size size) {
  const bool wide = failed || tally.wide();
  if (!failed && tally.listed()) {
    to = write_number<std::uint32_t>(to, listed_mark);
    std::uint32_t encoded = 0;  // number of blocks whose sizes are written
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::int64_t bytes = size(i);
      if (bytes == 0) continue;
      to = write_varint(write_varint(to, i - encoded), static_cast<std::uint64_t>(bytes));
      encoded = i + 1;
    }
    return encoded == count ? to : write_varint(to, count - encoded);
  }
  if (wide) to = write_number<std::uint32_t>(to, failed ? failed_mark : wide_mark);
  for (std::uint32_t i = 0; i < count; ++i)
    to = wide ? write_number<std::int64_t>(to, size(i)) : write_number<std::uint32_t>(to, size(i));
  return to;
}

/// Decodes the sizes of a message, one by one.
class SizeReader {
 public:
  explicit SizeReader(const char* from) : from_(from) {
    const auto mark = static_cast<std::uint32_t>(read_number<std::uint32_t>(from));
    failed_ = mark == failed_mark;
    wide_ = mark == wide_mark || failed_;
    listed_ = mark == listed_mark;
    if (wide_ || listed_) from_ += sizeof mark;
  }
  std::int64_t next() {
    if (listed_) return next_of_list();
    const std::int64_t size = wide_ ? read_number<std::int64_t>(from_) : read_number<std::uint32_t>(from_);
    from_ += wide_ ? sizeof(std::int64_t) : sizeof(std::uint32_t);
    return size;
  }
  const char* end() const { return from_; }

  /// Whether the sender has failed, and the blocks do not follow.
  bool failed() const { return failed_; }

 private:
  std::int64_t next_of_list() {
    if (!counted_) without_ = read_varint(from_), counted_ = true;
    if (without_ > 0) return --without_, 0;
    counted_ = false;
    return static_cast<std::int64_t>(read_varint(from_));
  }

  const char* from_;
  bool wide_ = false, failed_ = false, listed_ = false;
  bool counted_ = false;  ///< in a list: next are `without_` empty blocks, then one with data
  std::uint64_t without_ = 0;
};

/// The blocks of a message, behind the `count` sizes that begin at `from`: where they begin, and their bytes together, 0 if
/// their sender has failed.
inline std::pair<const char*, std::int64_t> blocks_behind(const char* from, std::uint32_t count) {
  SizeReader reader(from);
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += reader.next();
  return {reader.end(), reader.failed() ? 0 : sum};
}

}  // namespace swapmeet
