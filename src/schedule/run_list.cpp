#include "schedule/run_list.hpp"

#include <algorithm>

namespace swapmeet {

void RunList::add(Location location) {
  ++blocks_;
  if (!runs_.empty() && runs_.back().buffer == location.buffer) {
    Run& run = runs_.back();
    const std::int32_t step = location.block - run.block(run.count - 1);
    if (step != 0 && (run.count == 1 || step == run.stride)) {
      run.stride = step;
      ++run.count;
      return;
    }
    if (step == 1 && run.count == 2) {  // the second block belongs to a run without gaps rather
      run.count = run.stride = 1;
      runs_.push_back({location.buffer, location.block - 1, 2, 1});
      return;
    }
  }
  runs_.push_back({location.buffer, location.block, 1, 1});
}

bool RunList::within(Buffer buffer) const {
  return std::ranges::all_of(runs_, [buffer](const Run& run) { return run.buffer == buffer; });
}

}  // namespace swapmeet
