/// Working memory in pieces whose number and sizes are known only during a call.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <new>

namespace swapmeet {

/// A pool of pieces of memory. Small pieces are recycled, also from call to call; large ones are given back to the
/// system at once. One thread may use it at a time.
class Pool {
 public:
  /// Allocates `bytes` bytes, at least 1. Returns nullptr if there is no memory.
  char* take(std::int64_t bytes) {
    try {
      auto* const memory = static_cast<char*>(pieces_.allocate(static_cast<std::size_t>(bytes)));
      in_use_ += bytes;
      if (in_use_ > peak_) peak_ = in_use_;
      return memory;
    } catch (const std::bad_alloc&) { return nullptr; }
  }

  void give(char* memory, std::int64_t bytes) {
    pieces_.deallocate(memory, static_cast<std::size_t>(bytes));
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
  std::pmr::unsynchronized_pool_resource pieces_{{.max_blocks_per_chunk = 64, .largest_required_pool_block = 1 << 14}};
  std::int64_t in_use_ = 0, peak_ = 0;
};

}  // namespace swapmeet
