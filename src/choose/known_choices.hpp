/// A cache of the last choices that the process has made. Communicators of one shape, but of other ranks, have the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "choose/select.hpp"

namespace swapmeet {

/// Thread-safe.
class KnownChoices {
 public:
  /// Returns the result of swapmeet::choose() for the same arguments. `options` must be the same in all calls.
  Choice choose(Collective collective, const Shape& shape, std::int64_t block_bytes, const Options& options,
                const Means& means, const Knowledge& knowledge) {
    const auto is_it = [&](const Known& one) {
      return one.collective == collective && one.choice.least_bytes <= block_bytes &&
             block_bytes <= one.choice.most_bytes && one.means == means && one.basis->is(shape, knowledge);
    };
    {
      const std::lock_guard lock(mutex_);
      const auto known = std::ranges::find_if(last_, is_it);
      if (known != last_.end()) return known->choice;
    }
    Choice choice = swapmeet::choose(collective, shape, block_bytes, options, means, knowledge);
    try {
      keep({collective, means, basis_of(shape, knowledge), choice});
    } catch (const std::bad_alloc&) {}  // all ranks have the choice, also a rank that cannot keep it
    return choice;
  }

 private:
  /// What many choices rest on. It may be large: the shape has a number for each rank.
  struct Basis {
    Shape shape;
    Knowledge knowledge;

    bool is(const Shape& other, const Knowledge& known) const { return shape == other && knowledge == known; }
  };
  struct Known {
    Collective collective;
    Means means;
    std::shared_ptr<const Basis> basis;
    Choice choice;
  };
  static constexpr std::size_t most = 32;

  std::shared_ptr<const Basis> basis_of(const Shape& shape, const Knowledge& knowledge) {
    const std::lock_guard lock(mutex_);
    const auto same = std::ranges::find_if(last_, [&](const Known& one) { return one.basis->is(shape, knowledge); });
    return same != last_.end() ? same->basis : std::make_shared<const Basis>(Basis{shape, knowledge});
  }

  void keep(Known known) {
    const std::lock_guard lock(mutex_);
    if (last_.size() < most) last_.push_back(std::move(known));
    else last_[std::exchange(next_, (next_ + 1) % most)] = std::move(known);
  }

  std::mutex mutex_;
  std::vector<Known> last_;
  std::size_t next_ = 0;  ///< index of the choice that is replaced next, once there are `most`
};

}  // namespace swapmeet
