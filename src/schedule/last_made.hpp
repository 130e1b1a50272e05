/// LastMade keeps the most recent objects of a kind that a process has made, with the inputs that they were made from.
/// Programs often make and free communicators of the same shape; these then reuse the objects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace swapmeet {

/// Cache of at most `most` objects. Thread-safe.
template <class Thing, std::size_t most>
class LastMade {
 public:
  /// Returns the member `part` of an object for which is_it() is true. If the cache holds none, make() makes it;
  /// is_it() must be true for its result. make() runs without the lock, so two threads may make equal objects.
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
  std::size_t next_ = 0;  ///< index of the object that is replaced next, once the cache is full
};

}  // namespace swapmeet
