/// One rule of the automatic choice.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/collective.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// Whole numbers from `least` to `most`, both included.
struct Range {
  std::int64_t least = 0, most = INT64_MAX;

  bool has(std::int64_t value) const { return least <= value && value <= most; }
  bool meets(const Range& other) const { return least <= other.most && other.least <= most; }
  bool bounded() const { return least > 1 || most < INT64_MAX; }
};

/// For such calls on so many ranks, which are spread over so many nodes, with blocks of so many bytes.
struct Rule {
  Collective collective = Collective::alltoall;
  Range ranks{2}, nodes{1};
  Range bytes;         ///< sizes of unequal blocks are not shared by the ranks, so rules for these leave this open
  Spec spec;           ///< native too
  std::string origin;  ///< where the thresholds come from
  Range per_node{1};   ///< ranks of the node that has the fewest
};

}  // namespace swapmeet
