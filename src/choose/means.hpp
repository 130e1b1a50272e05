/// The means of transport that are available within the nodes of a communicator (no averages). All its ranks agree on
/// them.
#pragma once

#include <string>

namespace swapmeet {

struct Means {
  bool shared_memory = false, single_copy = false;
  std::string problem{};  ///< why one or both are unavailable, by the first rank with a reason

  bool operator==(const Means&) const = default;
};

}  // namespace swapmeet
