/// Memory for received messages whose blocks are forwarded. Each message is kept as it arrived until its last block has
/// left.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buffers/pool.hpp"
#include "engine/engine.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

class ReceiveBuffers {
 public:
  /// Makes room for `messages` messages, of which `slots` are in flight at a time. `sizes_bytes`: the most bytes that
  /// the block sizes of one message take.
  void make_room(std::size_t messages, std::size_t slots, std::int64_t sizes_bytes) {
    buffers_.resize(messages);
    sizes_bytes_ = sizes_bytes;
    sizes_.resize(slots * static_cast<std::size_t>(sizes_bytes));
    messages_.assign(slots, no_message);
  }

  /// The number of the message in each slot of the engine.
  std::span<std::uint32_t> messages() { return messages_; }

  Pool& pool() { return pool_; }
  std::int64_t peak() const { return pool_.peak(); }

  /// Allocates memory for `bytes` bytes of a message. If there is no memory, returns room for the block sizes only.
  Piece take(std::uint32_t message, std::uint32_t slot, std::size_t bytes) {
    Buffer& buffer = buffers_[message];
    buffer = {bytes == 0 ? nullptr : pool_.take(static_cast<std::int64_t>(bytes)), static_cast<std::int64_t>(bytes), 0};
    if (buffer.memory || bytes == 0) return {buffer.memory, bytes};
    return {sizes_of(slot),
            bytes < static_cast<std::size_t>(sizes_bytes_) ? bytes : static_cast<std::size_t>(sizes_bytes_)};
  }

  /// Variant for the message in `slot`.
  Piece take(std::uint32_t slot, std::size_t bytes) { return take(messages_[slot], slot, bytes); }

  /// The memory of the message; nullptr: it has none.
  char* memory(std::uint32_t message) const { return buffers_[message].memory; }

  /// Room of a slot for the block sizes of the message in it.
  char* sizes_of(std::uint32_t slot) { return sizes_.data() + slot * static_cast<std::size_t>(sizes_bytes_); }

  /// Keeps the message until `blocks` of its blocks have left. Its memory is freed at once if there are none.
  void keep(std::uint32_t message, std::uint32_t blocks) {
    buffers_[message].waiting = blocks;
    if (blocks == 0) give(buffers_[message]);
  }

  /// Records that one block of the message has left.
  void left(std::uint32_t message) {
    if (--buffers_[message].waiting == 0) give(buffers_[message]);
  }

 private:
  struct Buffer {
    char* memory = nullptr;
    std::int64_t bytes = 0;
    std::uint32_t waiting = 0;  ///< number of blocks that have not left
  };

  void give(Buffer& buffer) {
    if (buffer.memory) pool_.give(buffer.memory, buffer.bytes);
    buffer = {};
  }

  Pool pool_;
  std::vector<Buffer> buffers_;  ///< by number of the received message
  std::vector<char> sizes_;      ///< by slot
  std::vector<std::uint32_t> messages_;
  std::int64_t sizes_bytes_ = 0;
};

}  // namespace swapmeet
