/// Working memory in pieces whose number and sizes only the call shows.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <new>

namespace swapmeet {

/// Small pieces are recycled, from call to call too; large ones are given back to the system at once. One thread at a
/// time.
class Pool {
 public:
  /// Memory for so many bytes, at least 1; nullptr: there is none.
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

  /// So many bytes more, or less, of other memory are in use.
  void count(std::int64_t bytes) {
    in_use_ += bytes;
    if (in_use_ > peak_) peak_ = in_use_;
  }

  /// The most bytes in use at a time, ever.
  std::int64_t peak() const { return peak_; }

 private:
  std::pmr::unsynchronized_pool_resource pieces_{{.max_blocks_per_chunk = 64, .largest_required_pool_block = 1 << 14}};
  std::int64_t in_use_ = 0, peak_ = 0;
};

}  // namespace swapmeet
