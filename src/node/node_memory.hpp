/// The memory that the ranks of a node share for one communicator: a part of an arena, or a separate segment.
#pragma once

#include <utility>

#include "node/arenas.hpp"

namespace swapmeet {

class NodeMemory {
 public:
  NodeMemory() = default;  ///< no memory, for a rank that is alone on its node
  NodeMemory(Segment segment) : segment_(std::move(segment)), memory_(segment_.memory()) {}
  explicit NodeMemory(char* part) : memory_(part), part_(part != nullptr) {}
  NodeMemory(NodeMemory&& other) noexcept
      : segment_(std::move(other.segment_)), memory_(std::exchange(other.memory_, nullptr)),
        part_(std::exchange(other.part_, false)) {}
  NodeMemory& operator=(NodeMemory&& other) noexcept {
    std::swap(segment_, other.segment_);
    std::swap(memory_, other.memory_);
    std::swap(part_, other.part_);
    return *this;
  }
  ~NodeMemory() {
    if (part_) header().closed.fetch_add(1, std::memory_order_release);
  }

  char* address() const { return memory_; }
  PartHeader& header() const { return *reinterpret_cast<PartHeader*>(memory_); }

 private:
  Segment segment_;
  char* memory_ = nullptr;
  bool part_ = false;
};

}  // namespace swapmeet
