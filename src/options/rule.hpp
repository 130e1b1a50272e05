/// A rule of the automatic choice: the spec for a range of calls.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/collective.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// A range of whole numbers from `least` to `most`, both included.
struct Range {
  std::int64_t least = 0, most = INT64_MAX;

  bool has(std::int64_t value) const { return least <= value && value <= most; }
  bool meets(const Range& other) const { return least <= other.most && other.least <= most; }
  bool bounded() const { return least > 1 || most < INT64_MAX; }
};

/// A rule for one collective: it fits calls on communicators whose number of ranks and nodes, and blocks whose size,
/// are in its ranges.
struct Rule {
  Collective collective = Collective::alltoall;
  Range ranks{2}, nodes{1};
  Range bytes;         ///< block sizes; unlimited for unequal blocks, whose sizes the ranks do not share
  Spec spec;           ///< spec to use; may be native
  std::string origin;  ///< source of the rule, for messages
  Range per_node{1};   ///< ranks of the node with the fewest
};

}  // namespace swapmeet
