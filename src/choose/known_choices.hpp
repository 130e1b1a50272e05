/// A cache of the last choices that the process has made. Communicators of one shape, but of other ranks, have the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
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
             block_bytes <= one.choice.most_bytes && one.shape == shape && one.means == means &&
             one.knowledge == knowledge;
    };
    {
      const std::lock_guard lock(mutex_);
      const auto known = std::ranges::find_if(last_, is_it);
      if (known != last_.end()) return known->choice;
    }
    Known made{collective, shape, means, knowledge,
               swapmeet::choose(collective, shape, block_bytes, options, means, knowledge)};
    Choice choice = made.choice;
    const std::lock_guard lock(mutex_);
    if (last_.size() < most) last_.push_back(std::move(made));
    else last_[std::exchange(next_, (next_ + 1) % most)] = std::move(made);
    return choice;
  }

 private:
  struct Known {
    Collective collective;
    Shape shape;
    Means means;
    Knowledge knowledge;
    Choice choice;
  };
  static constexpr std::size_t most = 32;

  std::mutex mutex_;
  std::vector<Known> last_;
  std::size_t next_ = 0;  ///< index of the choice that is replaced next, once there are `most`
};

}  // namespace swapmeet
