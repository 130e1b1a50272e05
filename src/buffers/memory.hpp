/// Working memory that grows when it must, and is kept between calls while it is small.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace swapmeet {

class Memory {
 public:
  static constexpr std::int64_t kept_bytes = std::int64_t{4} << 20;

  /// Room for so many bytes; what was in it is lost when it grows. False: there is none.
  bool reserve(std::int64_t bytes) {
    if (bytes <= capacity_) return true;
    memory_.reset(new (std::nothrow) char[static_cast<std::size_t>(bytes)]);
    capacity_ = memory_ ? bytes : 0;
    return memory_ != nullptr;
  }

  char* memory() const { return memory_.get(); }

  /// Leaves it for ever, for MPI may still read it or write to it.
  void lose() {
    static_cast<void>(memory_.release());
    capacity_ = 0;
  }

  /// Gives back what is too large to keep.
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
