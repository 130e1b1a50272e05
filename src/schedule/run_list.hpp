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

class RunList {
 public:
  void add(Location location);
  void clear() { runs_.clear(), blocks_ = 0; }
  std::span<const Run> runs() const { return runs_; }
  std::int32_t blocks() const { return blocks_; }

  /// Whether all blocks lie side by side, in order.
  bool contiguous() const { return runs_.size() == 1 && (runs_[0].stride == 1 || runs_[0].count == 1); }

  /// Whether every block is in `buffer`.
  bool within(Buffer buffer) const;

 private:
  std::vector<Run> runs_;
  std::int32_t blocks_ = 0;
};

}  // namespace swapmeet
