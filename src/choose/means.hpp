/// What all ranks of a communicator know of how messages within its nodes can travel.
#pragma once

#include <string>

namespace swapmeet {

struct Means {
  bool shared_memory = false, single_copy = false;
  std::string problem{};  ///< why one or both cannot be had: the first rank's that has one

  bool operator==(const Means&) const = default;
};

}  // namespace swapmeet
