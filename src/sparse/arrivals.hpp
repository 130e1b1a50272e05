/// The messages that a rank has received in a sparse exchange. Each message gets its final place in memory before it is
/// received, so it is never copied again. Small messages lie in chunks, large ones in allocations of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

class Arrivals {
 public:
  struct Message {
    Rank source = 0;
    std::int64_t bytes = 0;
    char* data = nullptr;  ///< nullptr if the message is empty
  };

  /// Adds a message from `source` behind those that it has sent before. Returns the memory for it, aligned for any
  /// type. Returns nullptr if the message is empty, or if there is no memory; then the message is not added.
  char* add(Rank source, std::int64_t bytes) {
    try {
      messages_.push_back({source, bytes, bytes > 0 ? room(static_cast<std::size_t>(bytes)) : nullptr});
      return messages_.back().data;
    } catch (const std::bad_alloc&) {
      lacks_ = true;
      return nullptr;
    }
  }

  /// Whether there was no memory for some message.
  bool lacks() const { return lacks_; }

  /// Sorts the messages by source. Messages of one source stay in the order in which it has sent them.
  void sort() { std::ranges::stable_sort(messages_, {}, &Message::source); }

  const std::vector<Message>& messages() const { return messages_; }

  /// Bytes of memory in use.
  std::int64_t bytes() const { return held_ + static_cast<std::int64_t>(messages_.capacity() * sizeof(Message)); }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{16} << 10, alignment = alignof(std::max_align_t);

  char* room(std::size_t bytes) {
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (rounded < bytes) throw std::bad_alloc();
    if (rounded > chunk_bytes / 4) return chunk(rounded);
    if (rounded > left_) {
      // The first chunks are small, because most ranks receive few messages.
      const std::size_t size = std::min(chunk_bytes, std::max(8 * rounded, static_cast<std::size_t>(held_)));
      next_ = chunk(size);
      left_ = size;
    }
    char* const here = next_;
    next_ += rounded;
    left_ -= rounded;
    return here;
  }

  char* chunk(std::size_t bytes) {
    chunks_.push_back(std::unique_ptr<char[]>(new char[bytes]));
    held_ += static_cast<std::int64_t>(bytes);
    return chunks_.back().get();
  }

  std::vector<Message> messages_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::int64_t held_ = 0;
  bool lacks_ = false;
};

}  // namespace swapmeet
