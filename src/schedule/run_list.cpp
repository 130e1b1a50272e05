#include "schedule/run_list.hpp"

namespace swapmeet {

void RunList::add(Location location) {
  if (!runs_.empty() && runs_.back().buffer == location.buffer) {
    Run& run = runs_.back();
    const std::int32_t step = location.block - run.block(run.count - 1);
    if (step != 0 && (run.count == 1 || step == run.stride)) {
      run.stride = step;
      ++run.count;
      return;
    }
    if (step == 1 && run.count == 2) {  // the second block joins this one in a run without gaps
      run.count = run.stride = 1;
      runs_.push_back({location.buffer, location.block - 1, 2, 1});
      return;
    }
  }
  runs_.push_back({location.buffer, location.block, 1, 1});
}

void RunList::add(const Run& run) {
  for (std::int32_t i = 0; i < run.count; ++i) {
    if (i > 0 && runs_.back().count > 1 && runs_.back().stride == run.stride) {  // append the remaining blocks at once
      runs_.back().count += run.count - i;
      return;
    }
    add(Location{run.buffer, run.block(i)});
  }
}

}  // namespace swapmeet
