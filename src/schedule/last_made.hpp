/// The last things of a kind that a process has made, each with all that it was made from: communicators of the same shape, of which
/// programs make and free many, get them without making them again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace swapmeet {

/// Any thread.
template <class Thing, std::size_t most>
class LastMade {
 public:
  /// One of which is_it() is true, or what make() returns, which must be such a one.
  template <class IsIt, class Make>
  Thing find_or_make(IsIt is_it, Make make) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = std::ranges::find_if(things_, is_it);
      if (known != things_.end()) return *known;
    }
    Thing made = make();
    const std::lock_guard lock(mutex_);
    if (things_.size() < most) things_.push_back(made);
    else things_[std::exchange(next_, (next_ + 1) % most)] = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::vector<Thing> things_;
  std::size_t next_ = 0;  ///< the one that is replaced next, once there are so many
};

}  // namespace swapmeet
