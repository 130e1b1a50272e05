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

/// Reads sizes as they are sent, one by one.
class SizeReader {
 public:
  explicit SizeReader(const char* from) : from_(from), wide_(read_number<std::uint32_t>(from) == wide_mark) {
    if (wide_) from_ += sizeof wide_mark;
  }
  std::int64_t next() {
    const std::int64_t size = wide_ ? read_number<std::int64_t>(from_) : read_number<std::uint32_t>(from_);
    from_ += wide_ ? sizeof(std::int64_t) : sizeof(std::uint32_t);
    return size;
  }
  const char* end() const { return from_; }

 private:
  const char* from_;
  bool wide_;
};

/// The sum of `count` sizes that begin at `from`, and where they end.
inline std::int64_t sum_sizes(const char* from, std::uint32_t count, const char** end = nullptr) {
  SizeReader reader(from);
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += reader.next();
  if (end) *end = reader.end();
  return sum;
}

}  // namespace swapmeet
