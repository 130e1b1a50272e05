/// Working memory in pieces whose number and sizes are known only during a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace swapmeet {

/// Allocates pieces of memory and counts their bytes. The system's allocator recycles small pieces. They do not come
/// from the reserve (reserve.hpp), which has no aligned form of operator new: an exchange continues without them. One
/// thread may use a pool at a time.
class Pool {
 public:
  /// Allocates `bytes` bytes, at least 1. Returns nullptr if there is no memory.
  char* take(std::int64_t bytes) {
    void* const memory = operator new(static_cast<std::size_t>(bytes), alignment, std::nothrow);
    if (memory) count(bytes);
    return static_cast<char*>(memory);
  }

  void give(char* memory, std::int64_t bytes) {
    operator delete(memory, alignment);
    in_use_ -= bytes;
  }

  /// Counts `bytes` bytes of other memory as in use, or, if negative, as no longer in use.
  void count(std::int64_t bytes) {
    in_use_ += bytes;
    if (in_use_ > peak_) peak_ = in_use_;
  }

  /// The largest number of bytes that were ever in use at a time.
  std::int64_t peak() const { return peak_; }

 private:
  static constexpr std::align_val_t alignment{alignof(std::max_align_t)};
  std::int64_t in_use_ = 0, peak_ = 0;
};

}  // namespace swapmeet
