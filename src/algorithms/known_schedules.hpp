/// The schedules that a process has generated.
#pragma once

#include <memory>

#include "algorithms/generate.hpp"
#include "schedule/last_made.hpp"

namespace swapmeet {

/// Any thread.
class KnownSchedules {
 public:
  /// What the function generate() returns.
  std::shared_ptr<const Schedule> generate(const Spec& spec, const Shape& shape, Rank rank) {
    const auto is_it = [&](const Known& one) { return one.rank == rank && one.spec == spec && one.shape == shape; };
    return last_
        .find_or_make(is_it,
                      [&] {
                        return Known{spec, shape, rank,
                                     std::make_shared<const Schedule>(swapmeet::generate(spec, shape, rank))};
                      })
        .schedule;
  }

 private:
  struct Known {
    Spec spec;
    Shape shape;
    Rank rank;
    std::shared_ptr<const Schedule> schedule;
  };
  LastMade<Known, 16> last_;
};

}  // namespace swapmeet
