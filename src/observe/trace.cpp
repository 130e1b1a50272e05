#include "observe/trace.hpp"

namespace swapmeet {

void Trace::spent(std::uint8_t phase, Time from, Time to) {
  end_ = to;
  if (from == to) return;
  if (!slices_.empty()) {  // a waiting loop reads the clock often: extend the last slice
    Slice& last = slices_.back();
    if (last.end == from && last.phase == phase && last.step == step_) return void(last.end = to);
  }
  slices_.size() < most_records ? slices_.push_back({from, to, step_, phase}) : void(++dropped_);
}

void Trace::begins(const void* message, Direction direction, Rank peer, std::int64_t bytes, int tag) {
  add({Clock::now(), message, bytes, step_, peer, tag, direction, true});
}

void Trace::done(const void* message, std::int64_t bytes) {
  add({Clock::now(), message, bytes, step_, 0, 0, Direction::send, false});
}

void Trace::add(const Event& event) { events_.size() < most_records ? events_.push_back(event) : void(++dropped_); }

}  // namespace swapmeet
