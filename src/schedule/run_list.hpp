/// RunList gathers a sequence of blocks into few runs, in a single pass.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace swapmeet {

/// Place of one block in a buffer.
struct Location {
  Buffer buffer = Buffer::send;
  std::int32_t block = 0;
};

inline Run run_of(Location block) { return {block.buffer, block.block, 1, 1}; }

class RunList {
 public:
  void add(Location location);
  /// Appends all blocks of `run`, with the same result as appending them one by one.
  void add(const Run& run);
  void clear() { runs_.clear(); }
  std::span<const Run> runs() const { return runs_; }
  operator std::span<const Run>() const { return runs_; }

 private:
  std::vector<Run> runs_;
};

}  // namespace swapmeet
