/// What the copies of a step are, as the executor makes them.
#pragma once

#include "model/work.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// A run whose blocks lie apart, at either end, is as many pieces as blocks; else it is one.
inline Copies copies_of(const Schedule& schedule, const Step& step) {
  Copies sum;
  for (const Copy& copy : schedule.copies_of(step)) {
    const bool together = copy.from.count == 1 || (copy.from.stride == 1 && copy.to.stride == 1);
    sum.blocks += copy.from.count;
    sum.pieces += together ? 1 : copy.from.count;
  }
  return sum;
}

}  // namespace swapmeet
