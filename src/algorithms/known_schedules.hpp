/// KnownSchedules caches the last schedules that a process has generated.
#pragma once

#include <memory>

#include "algorithms/generate.hpp"
#include "schedule/last_made.hpp"

namespace swapmeet {

/// Thread-safe cache of up to 16 schedules, found by spec, shape and rank.
class KnownSchedules {
 public:
  /// Returns the result of swapmeet::generate(). Schedules for more than 1024 ranks are not kept: they are large, and
  /// the exchange takes longer than their generation.
  std::shared_ptr<const Schedule> generate(const Spec& spec, const Shape& shape, Rank rank) {
    constexpr Rank most_ranks = 1024;
    const auto make = [&] { return std::make_shared<const Schedule>(swapmeet::generate(spec, shape, rank)); };
    if (shape.ranks > most_ranks) return make();
    const auto is_it = [&](const Known& one) { return one.rank == rank && one.spec == spec && one.shape == shape; };
    return last_.find_or_make(&Known::schedule, is_it, [&] { return Known{spec, shape, rank, make()}; });
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
