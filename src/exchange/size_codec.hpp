/// Sizes of blocks as they travel: see schedule/size_format.hpp.
#pragma once

#include <cstdint>
#include <cstring>

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

/// Writes the sizes of blocks, size(i) of each; returns where they end. `failed`: nothing will follow them.
template <class Size>
char* write_sizes(char* to, std::uint32_t count, std::int64_t largest, bool failed, Size size) {
  const bool wide = failed || wide_sizes(largest);
  if (wide) to = write_number<std::uint32_t>(to, failed ? failed_mark : wide_mark);
  for (std::uint32_t i = 0; i < count; ++i)
    to = wide ? write_number<std::int64_t>(to, size(i)) : write_number<std::uint32_t>(to, size(i));
  return to;
}

/// Reads sizes as they are sent, one by one.
class SizeReader {
 public:
  explicit SizeReader(const char* from) : from_(from) {
    const std::int64_t mark = read_number<std::uint32_t>(from);
    wide_ = mark >= failed_mark;
    failed_ = mark == failed_mark;
    if (wide_) from_ += sizeof wide_mark;
  }
  std::int64_t next() {
    const std::int64_t size = wide_ ? read_number<std::int64_t>(from_) : read_number<std::uint32_t>(from_);
    from_ += wide_ ? sizeof(std::int64_t) : sizeof(std::uint32_t);
    return size;
  }
  const char* end() const { return from_; }

  /// Whether the blocks themselves do not follow.
  bool failed() const { return failed_; }

 private:
  const char* from_;
  bool wide_ = false, failed_ = false;
};

/// The bytes that follow sizes: the sum of `count` sizes that begin at `from`; 0 if their sender failed.
inline std::int64_t bytes_behind(const char* from, std::uint32_t count) {
  SizeReader reader(from);
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += reader.next();
  return reader.failed() ? 0 : sum;
}

}  // namespace swapmeet
