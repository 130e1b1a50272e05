/// Working memory that grows when needed, and is kept between calls if it is small.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace swapmeet {

class Memory {
 public:
  static constexpr std::int64_t kept_bytes = std::int64_t{4} << 20;

  /// Makes room for `bytes` bytes. The content is lost if the memory grows. Returns false if there is no memory.
  bool reserve(std::int64_t bytes) {
    if (bytes <= capacity_) return true;
    memory_.reset(new (std::nothrow) char[static_cast<std::size_t>(bytes)]);
    capacity_ = memory_ ? bytes : 0;
    return memory_ != nullptr;
  }

  char* memory() const { return memory_.get(); }

  /// Gives the memory up without freeing it, because MPI may still read or write it.
  void lose() {
    static_cast<void>(memory_.release());
    capacity_ = 0;
  }

  /// Frees the memory if it is larger than kept_bytes.
  void release() {
    if (capacity_ <= kept_bytes) return;
    memory_.reset();
    capacity_ = 0;
  }

 private:
  std::unique_ptr<char[]> memory_;
  std::int64_t capacity_ = 0;
};

}  // namespace swapmeet
