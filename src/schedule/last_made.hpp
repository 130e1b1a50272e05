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
  /// The part of one of which is_it() is true, or of what make() returns, which must be such a one.
  template <class Part, class IsIt, class Make>
  Part find_or_make(Part Thing::* part, IsIt is_it, Make make) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = std::ranges::find_if(things_, is_it);
      if (known != things_.end()) return (*known).*part;
    }
    Thing made = make();
    Part wanted = made.*part;
    const std::lock_guard lock(mutex_);
    if (things_.size() < most) things_.push_back(std::move(made));
    else things_[std::exchange(next_, (next_ + 1) % most)] = std::move(made);
    return wanted;
  }

 private:
  std::mutex mutex_;
  std::vector<Thing> things_;
  std::size_t next_ = 0;  ///< the one that is replaced next, once there are so many
};

}  // namespace swapmeet
