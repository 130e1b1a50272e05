/// Blocks in order, gathered into as few runs as a single look allows.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// One block of one buffer.
struct Location {
  Buffer buffer = Buffer::send;
  std::int32_t block = 0;
};

inline Run run_of(Location block) { return {block.buffer, block.block, 1, 1}; }

class RunList {
 public:
  void add(Location location);
  /// All of its blocks, as if they were added one by one.
  void add(const Run& run);
  void clear() { runs_.clear(); }
  std::span<const Run> runs() const { return runs_; }
  operator std::span<const Run>() const { return runs_; }

 private:
  std::vector<Run> runs_;
};

}  // namespace swapmeet
