/// A cache of the choices that the process has made.
#pragma once

#include <cstdint>

#include "choose/select.hpp"
#include "schedule/last_made.hpp"

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
    return last_.find_or_make(&Known::choice, is_it, [&] {
      return Known{collective, shape, means, knowledge,
                   swapmeet::choose(collective, shape, block_bytes, options, means, knowledge)};
    });
  }

 private:
  struct Known {
    Collective collective;
    Shape shape;
    Means means;
    Knowledge knowledge;
    Choice choice;
  };
  LastMade<Known, 32> last_;
};

}  // namespace swapmeet
