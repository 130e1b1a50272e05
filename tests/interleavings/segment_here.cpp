/// Segments in the memory that the explorer watches, instead of src/node/segment.cpp: all ranks are one process.
#include "node/segment.hpp"

#include <cstring>
#include <utility>

#include "scenarios.hpp"

namespace swapmeet {

Segment::~Segment() = default;

std::string Segment::make(std::size_t bytes, Naming) {
  if (bytes > shared_bytes()) return "too large";
  memory_ = shared_memory();
  bytes_ = bytes;
  return "";
}

void Segment::release(std::size_t first, std::size_t bytes) { std::memset(memory_ + first, 0, bytes); }

void Segment::swap(Segment& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
}

// not needed here
std::string Segment::open(const SegmentName&, std::size_t) { return "there is one process"; }
std::string Segment::open_to_read(const SegmentName&) { return "there is one process"; }
std::string Segment::reserve(std::size_t, std::size_t) { return ""; }
Segment Segment::missing(const SegmentName&) { return {}; }
bool Segment::is_kept() const { return true; }

}  // namespace swapmeet
