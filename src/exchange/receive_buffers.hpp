/// The memory of messages whose blocks are passed on: each is kept as it arrived until the last of its blocks has left.
#pragma once

#include <cstdint>
#include <vector>

#include "buffers/pool.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

class ReceiveBuffers {
 public:
  /// For so many messages, of which `slots` are in flight at a time. `sizes_bytes`: what the sizes of the blocks of one
  /// take at most.
  void make_room(std::size_t messages, std::size_t slots, std::int64_t sizes_bytes) {
    buffers_.resize(messages);
    sizes_bytes_ = sizes_bytes;
    sizes_.resize(slots * static_cast<std::size_t>(sizes_bytes));
  }

  Pool& pool() { return pool_; }
  std::int64_t peak() const { return pool_.peak(); }

  /// Memory for so many bytes of a message. There is none: room for its sizes alone.
  Piece take(std::uint32_t message, std::uint32_t slot, std::size_t bytes) {
    Buffer& buffer = buffers_[message];
    buffer = {bytes == 0 ? nullptr : pool_.take(static_cast<std::int64_t>(bytes)), static_cast<std::int64_t>(bytes), 0};
    if (buffer.memory || bytes == 0) return {buffer.memory, bytes};
    return {sizes_of(slot),
            bytes < static_cast<std::size_t>(sizes_bytes_) ? bytes : static_cast<std::size_t>(sizes_bytes_)};
  }

  /// Where the message is; nullptr: nowhere.
  char* memory(std::uint32_t message) const { return buffers_[message].memory; }

  /// Room of a slot, for the sizes of the message in it.
  char* sizes_of(std::uint32_t slot) { return sizes_.data() + slot * static_cast<std::size_t>(sizes_bytes_); }
  std::int64_t sizes_bytes() const { return sizes_bytes_; }

  /// So many blocks of the message are to be passed on; none: its memory is given back.
  void keep(std::uint32_t message, std::uint32_t blocks) {
    buffers_[message].waiting = blocks;
    if (blocks == 0) give(buffers_[message]);
  }

  /// One of them has left.
  void left(std::uint32_t message) {
    if (--buffers_[message].waiting == 0) give(buffers_[message]);
  }

  /// After an exchange was given up: nothing is kept. What MPI may still write to, or read, stays where it is.
  void lose() {
    for (Buffer& buffer : buffers_) buffer = {};
  }

 private:
  struct Buffer {
    char* memory = nullptr;
    std::int64_t bytes = 0;
    std::uint32_t waiting = 0;  ///< blocks that have not left
  };

  void give(Buffer& buffer) {
    if (buffer.memory) pool_.give(buffer.memory, buffer.bytes);
    buffer = {};
  }

  Pool pool_;
  std::vector<Buffer> buffers_;  ///< by message received
  std::vector<char> sizes_;      ///< by slot
  std::int64_t sizes_bytes_ = 0;
};

}  // namespace swapmeet
